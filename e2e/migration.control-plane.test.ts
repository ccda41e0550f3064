import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient, createTransport, loadConfig, resources, systemClock } from '@outrigger/kube';
import { controlPlaneOrSkip, parseKubernetesMinor, type KubernetesMinor } from '@outrigger/testing';
import { allocations, NodeProbe, turns } from './hand-over-probe.ts';
import { Manager } from './manager.ts';

const LEASE_MS = 3_000;
const ELECTION = {
  'leader-elect': 'true',
  'leader-elect-lease-duration': `${LEASE_MS}ms`,
  'leader-elect-renew-deadline': '2s',
  'leader-elect-retry-period': '500ms',
};
const CLUSTER_CIDR = '10.64.0.0/12';
const OUTRIGGER = 'outrigger';
/** As kube-controller-manager is known in its node IPAM controller. */
const KUBE = 'system:serviceaccount:kube-system:node-controller';
const MIGRATION = 'cloud-provider-extraction-migration';

const CONFIG = `apiVersion: controllermanager.config.k8s.io/v1
kind: LeaderMigrationConfiguration
leaderName: ${MIGRATION}
controllerLeaders:
- name: node-ipam-controller
  component: "*"
`;

/**
 * How kube-controller-manager takes part. From 1.36.0 on it ends with "informer name is already registered" as soon as it
 * has both locks (k/k `app/controllermanager.go`, `CreateControllerContext`): there, a second one that runs nothing but what
 * is migrated has the lock of the migration as its own.
 */
function participation(kubernetes: KubernetesMinor, config: string): Readonly<Record<string, string>> {
  if (kubernetes === '1.36') return { 'leader-elect-resource-name': MIGRATION };
  return { 'enable-leader-migration': 'true', 'leader-migration-config': config };
}

async function until(what: string, holds: () => Promise<boolean>, log?: string): Promise<void> {
  const deadline = systemClock.monotonic() + 30_000;
  while (!(await holds().catch(() => false))) {
    if (systemClock.monotonic() > deadline) {
      assert.fail(`not within 30 s: ${what}\n${log === undefined ? '' : await readFile(log, 'utf8')}`);
    }
    await systemClock.sleep(50);
  }
}

test('node IPAM goes from kube-controller-manager to Outrigger and back: never two at work, and nobody for a moment only', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-migration-'));
  t.after(() => rm(directory, { recursive: true }));
  const config = join(directory, 'migration.yaml');
  await writeFile(config, CONFIG);
  const controlPlane = await controlPlaneOrSkip(t, {
    kubeControllerManager: true,
    flags: {
      'kube-controller-manager': {
        ...ELECTION,
        'allocate-node-cidrs': 'true',
        'cluster-cidr': CLUSTER_CIDR,
        controllers: 'serviceaccount-controller,serviceaccount-token-controller,node-ipam-controller',
        ...participation(parseKubernetesMinor(process.env['KUBERNETES'] || '1.36'), config),
      },
    },
  });
  if (!controlPlane) return;
  await using transport = createTransport(await loadConfig({ kubeconfig: controlPlane.kubeconfig.path }));
  const client = createClient(transport);
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: OUTRIGGER, groups: ['system:masters'] });
  const log = join(directory, 'outrigger.log');
  await using outrigger = new Manager(
    [
      '--cloud-provider=memory',
      `--kubeconfig=${kubeconfig}`,
      '--secure-port=0',
      ...Object.entries(ELECTION).map(([name, value]) => `--${name}=${value}`),
      '--controllers=node-ipam-controller',
      '--allocate-node-cidrs',
      `--cluster-cidr=${CLUSTER_CIDR}`,
      '--enable-leader-migration',
      `--leader-migration-config=${config}`,
      '-v=4',
    ],
    log,
  );
  const works = async (user: string, since: number): Promise<boolean> =>
    (await allocations(controlPlane)).some((deed) => deed.user === user && deed.at > since);
  /** Waits until a manager that was just started has its own lock, if it has one, and asks for the migration's. */
  const stand = async (user: string, start: () => Promise<void> | void): Promise<void> => {
    const at = systemClock.now();
    await start();
    const asks = async (): Promise<boolean> => {
      const found = await controlPlane.auditLog.requests(
        ({ objectRef, requestReceivedTimestamp, user: { username } }) =>
          username === user && objectRef?.name === MIGRATION && Date.parse(requestReceivedTimestamp) > at,
      );
      return found.length > 0;
    };
    await until(`${user} seeks the lock`, asks, log);
  };
  const nodes = async (): Promise<ReadonlyMap<string, string>> => {
    const { items } = await client.of(resources.nodes).list();
    const settled = items.filter(({ spec }) => (spec?.podCIDRs?.length ?? 0) > 0);
    return new Map(
      settled.map(({ metadata, spec }) => [
        metadata?.name ?? '',
        `${metadata?.resourceVersion} ${spec?.podCIDRs?.join(' ')}`,
      ]),
    );
  };

  const bounds: { readonly to: string; readonly at: number; readonly boundMs: number }[] = [];
  /** Lets the manager that works end, and waits until the other one works. Nothing that was settled before is touched. */
  const handOver = async (to: string, boundMs: number, end: () => Promise<unknown>): Promise<void> => {
    const before = await nodes();
    const at = systemClock.now();
    bounds.push({ to, at, boundMs });
    await end();
    await until(`${to} works`, () => works(to, at), log);
    const after = await nodes();
    for (const [name, what] of before) assert.equal(after.get(name), what, `${name} was changed by the hand-over`);
  };

  {
    await using _probe = new NodeProbe(client);
    await until('kube-controller-manager works', () => works(KUBE, 0));
    await stand(OUTRIGGER, () => outrigger.start());
    await handOver(OUTRIGGER, LEASE_MS + 1_000, () => controlPlane.endControllerManager('SIGKILL'));

    await stand('system:kube-controller-manager', () => controlPlane.startControllerManager());
    await handOver(KUBE, 5_000, async () => assert.equal(await outrigger.end('SIGTERM'), 0));

    await stand(OUTRIGGER, () => outrigger.start());
    await handOver(OUTRIGGER, LEASE_MS + 1_000, () => controlPlane.endControllerManager('SIGTERM'));

    await stand('system:kube-controller-manager', () => controlPlane.startControllerManager());
    await handOver(KUBE, LEASE_MS + 5_000, () => outrigger.end('SIGKILL'));
  }

  const seen = turns(await allocations(controlPlane));
  assert.deepEqual(
    seen.map(({ user }) => user),
    [KUBE, OUTRIGGER, KUBE, OUTRIGGER, KUBE],
    'never two at work',
  );
  for (const [index, { at, boundMs, to }] of bounds.entries()) {
    const [before, after] = [seen[index], seen[index + 1]];
    assert.ok(before && after);
    const idleMs = after.first.at - at;
    t.diagnostic(`${to} works ${idleMs} ms after the other one was ended; bound ${boundMs} ms`);
    assert.ok(idleMs <= boundMs, `${to}: nobody worked for ${idleMs} ms`);
  }
  const given = [...(await nodes()).values()].map((what) => what.split(' ')[1]);
  assert.equal(new Set(given).size, given.length, 'no two nodes have one range');
});
