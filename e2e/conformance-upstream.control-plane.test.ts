/** The cluster suite against a manager on upstream's Go framework: a judge that only our own program could pass would be none. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { clientOf, controlPlaneOrSkip, freePort, ProcessGroup } from '@outrigger/testing';
import { buildUpstream, UPSTREAM } from '../bench/build-upstream.ts';
import { builtOrSkip } from './built-or-skip.ts';
import { ConformanceJudges, type StartManager } from './conformance-judges.ts';

const startUpstream: StartManager = async (kubeconfig, cloudConfig, directory) => {
  const group = new ProcessGroup();
  const args = [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--cloud-provider=memory',
    `--cloud-config=${cloudConfig}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${await freePort()}`,
    '--leader-elect=false',
    '--allocate-node-cidrs=true',
    '--cluster-cidr=10.64.0.0/10',
    '--route-reconciliation-period=500ms',
    '--node-monitor-period=500ms',
    '--kube-api-qps=1000',
    '--kube-api-burst=2000',
  ];
  await group.start({ name: 'upstream', command: UPSTREAM, args, log: path.join(directory, 'upstream.log') });
  return group;
};

/** The framework asks the provider about every node, and this one takes an ID of another cloud for that of a machine which is gone. */
const BROKEN = 'node-lifecycle / a node of another cloud is kept';

test("a manager on upstream's framework keeps every promise but one", async (t) => {
  if ((await builtOrSkip(t, 'the manager of upstream', buildUpstream)) === undefined) return;
  const controlPlane = await controlPlaneOrSkip(t, { auditLog: false });
  if (!controlPlane) return;
  const { adminToken, certificateAuthority, directory, server } = controlPlane;
  const kubeconfig = controlPlane.kubeconfig.path;
  await using client = await clientOf(kubeconfig);
  const apiServer = { server, certificateAuthority, token: adminToken };
  const judges = new ConformanceJudges({ client, kubeconfig, apiServer, directory });

  const { report, left } = await judges.judge({ start: startUpstream, timeoutMs: 120_000, quietMs: 4_000 });
  const failed = report.results.filter(({ name, outcome }) => outcome === 'failed' && name !== BROKEN);
  assert.deepEqual(failed, []);
  assert.deepEqual(left, []);
  // On a busy machine it may break this one later than the others are looked at for.
  const { report: once } = await judges.judge({ start: startUpstream, only: [BROKEN], quietMs: 100_000 });
  assert.deepEqual(
    once.results.map(({ name, outcome }) => [name, outcome]),
    [[BROKEN, 'failed']],
  );
});
