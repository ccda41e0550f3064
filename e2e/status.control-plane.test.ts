import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { resources, systemClock } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud } from '@outrigger/provider-memory';
import { clientOf, controlPlaneOrSkip, freePort, hollowNode } from '@outrigger/testing';
import { Manager } from './manager.ts';
import { status, type StatusOutcome } from './status-command.ts';
import { waitUntil } from './wait-until.ts';

test('status says that a cluster has no leader, is healthy, lacks credentials, and what its user may not see', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  if (!controlPlane) return;
  const directory = await mkdtemp(path.join(tmpdir(), 'outrigger-status-'));
  t.after(() => rm(directory, { recursive: true }));
  const kubeconfig = `--kubeconfig=${controlPlane.kubeconfig.path}`;

  const leaderless = await status(kubeconfig);
  assert.equal(leaderless.code, 2, leaderless.text);
  assert.match(leaderless.text, /^1\. ERROR There is no leader: .* does not exist\.$/mu);
  assert.match(leaderless.text, /^ {3}Runbook: OutriggerNoLeader$/mu);

  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
  await using served = await serveMemoryCloud(cloud);
  cloud.createInstance({ name: 'worker-1' });
  cloud.createInstance({ name: hostname() });
  const cloudConfig = path.join(directory, 'cloud.json');
  await writeFile(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const [nodes, services] = [client.of(resources.nodes), client.of(resources.services)];
  await nodes.create(hollowNode({ name: 'worker-1' }));
  await services.create({
    metadata: { namespace: 'default', name: 'web' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  });
  const port = await freePort();
  const log = path.join(directory, 'log');
  await using manager = new Manager(
    [
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      kubeconfig,
      `--authentication-kubeconfig=${controlPlane.kubeconfig.path}`,
      `--authorization-kubeconfig=${controlPlane.kubeconfig.path}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
    ],
    log,
  );
  manager.start();
  const host = hollowNode({ name: hostname() });
  await nodes.create({ ...host, spec: {} });
  // It runs in no Pod: without its name no one is asked.
  const server = `--server=https://127.0.0.1:${port}`;
  const direct = [kubeconfig, server, '--insecure-skip-tls-verify'];
  const until = async (
    what: string,
    holds: (outcome: StatusOutcome) => boolean,
    ...args: readonly string[]
  ): Promise<StatusOutcome> => {
    let outcome: StatusOutcome = { code: 0, text: '' };
    const reached = async (): Promise<boolean> => {
      outcome = await status(...args);
      await writeFile(path.join(directory, 'status'), outcome.text);
      return holds(outcome);
    };
    await waitUntil(what, reached, { patienceMs: 180_000, pollMs: 250, logs: [log, path.join(directory, 'status')] });
    return outcome;
  };
  await until('no Pod', ({ text }) => /BUDGET: no Pod of the manager runs/u.test(text), kubeconfig);
  const healthy = await until(
    'healthy',
    ({ code, text }) =>
      code === 0 && /^NODES\n.*\n {2}2 +2 +0$/mu.test(text) && /^SERVICES\n.*\n {2}1 +1 +0$/mu.test(text),
    ...direct,
  );
  assert.match(healthy.text, /^Healthy \(https:/u);
  assert.match(healthy.text, / {3}cloud-node-controller,cloud-node-lifecycle-controller,/u);

  // Its certificate is self-signed: nothing is sent to it, and what it would have said is unknown.
  const untrusted = await until(
    'its certificate is not trusted',
    ({ text }) => /BUDGET: .*certificate/u.test(text),
    kubeconfig,
    server,
  );
  assert.equal(untrusted.code, 1, untrusted.text);
  assert.match(untrusted.text, /^Unknown: 7 of the checks could not be made/u);
  assert.match(
    untrusted.text,
    /^ {2}HEALTH, [A-Z, ]+, BUDGET: .*certificate.*; name its authority with --certificate-authority$/mu,
  );
  assert.match(untrusted.text, /^SERVICES\n.*\n {2}1 +1 +0$/mu);

  const { path: stranger } = await controlPlane.kubeconfigFor({ user: 'stranger', groups: [] });
  const forbidden = await until(
    'forbidden',
    ({ text }) => /BUDGET: .*status 403/u.test(text),
    `--kubeconfig=${stranger}`,
    server,
    '--insecure-skip-tls-verify',
  );
  assert.equal(forbidden.code, 1, forbidden.text);
  for (const line of [
    /^ {2}LEADER: forbidden: .*leases\.coordination\.k8s\.io/mu,
    /^ {2}NODES: forbidden: .*User "stranger" cannot list resource "nodes"/mu,
    /^ {2}PROCESS, [A-Z, ]+, BUDGET: .*status 403 .*User "stranger" cannot get path "\/metrics".*; grant the user get on the nonResourceURLs/mu,
    /^HEALTH\n {2}READY +FAILING\n {2}yes +<none>$/mu,
  ]) {
    assert.match(forbidden.text, line);
  }

  cloud.setFaults([{ effect: 'status', status: 401 }]);
  await services.create({
    metadata: { namespace: 'default', name: 'late' },
    spec: { type: 'LoadBalancer', ports: [{ port: 80 }] },
  });
  const refused = await until(
    'refused',
    ({ code, text }) => code === 2 && text.includes('refuses the credentials') && text.includes('Service default/late'),
    ...direct,
  );
  for (const line of [
    /ERROR Cloud memory, \S+: The cloud refuses the credentials since \S+: new nodes, Services and routes wait, nothing is deleted\.\n {3}Remedy: {2}Correct the credentials/u,
    /^ {3}Run: {5}outrigger config validate --cloud-provider=memory --cloud-config=FILE$/mu,
    /ERROR Service default\/late: It has had no address for [\dms]+: \w+: .*\n {3}Run: {5}outrigger explain service default\/late$/mu,
    /^ {3}Runbook: OutriggerServiceSyncFailing$/mu,
  ]) {
    assert.match(refused.text, line, await readFile(log, 'utf8'));
  }
  cloud.setFaults([]);
  await manager.end('SIGTERM');
  const gone = await until('no leader', ({ text }) => text.includes('has no holder'), kubeconfig);
  assert.equal(gone.code, 2);
});
