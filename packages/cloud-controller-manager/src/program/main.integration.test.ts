import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { CloudError, type CloudProvider } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { defaultControllers } from '../controllers/controllers.ts';
import { Bench, greenCloud, page, until } from './program-bench.suite.ts';

test('a node is initialised, health and metrics are served, and SIGTERM leaves in order', async () => {
  await using bench = await Bench.start();
  bench.addNode('node-1');
  let closed = false;
  const program = await bench.run(
    greenCloud(() => {
      closed = true;
    }),
  );
  await until('initialised', () => bench.isInitialised('node-1'), program.log);
  const node = bench.node('node-1');
  assert.equal(node.spec?.providerID, 'green://node-1');
  assert.equal(node.metadata?.labels?.['topology.kubernetes.io/zone'], 'z1');

  assert.equal(await page(`${program.url}/healthz`), 'ok');
  const ready = await page(`${program.url}/readyz?verbose`);
  for (const name of ['cloud-node-controller', 'service-lb-controller'])
    assert.ok(ready.includes(`[+]${name} ok\n`), ready);
  assert.match(ready, /readyz check passed/u);
  const metrics = await page(`${program.url}/metrics`);
  for (const line of [
    /^running_managed_controllers\{name="cloud-node-controller",manager="cloud-controller-manager"\} 1$/mu,
    /^leader_election_master_status\{name="cloud-controller-manager"\} 1$/mu,
    /^workqueue_adds_total\{name="cloud-node-controller"\} \d+$/mu,
    /^rest_client_requests_total\{/mu,
    /^kubernetes_build_info\{.*git_version="v/mu,
    /^process_resident_memory_bytes \d+$/mu,
  ]) {
    assert.match(metrics, line);
  }
  const known = new Set(defaultControllers.map(({ name }) => name));
  const named = [...`${program.log()}${metrics}`.matchAll(/[ {,]controller="([^"]+)"/gu)].map(([, name = '']) => name);
  assert.ok(named.length > 10);
  assert.deepEqual(
    [...new Set(named)].filter((name) => !known.has(name)),
    [],
  );

  assert.match(await page(`${program.url}/flagz`), /^cluster-name=kubernetes$/mu);
  assert.match(await page(`${program.url}/statusz`), /^Up: /mu);
  assert.match(
    await page(`${program.url}/metrics/slis`),
    /^kubernetes_healthcheck\{name="leaderElection",type="healthz"\} 1$/mu,
  );
  assert.match(await page(`${program.url}/configz`), /cloudcontrollermanager\.config\.k8s\.io/u);

  assert.match(bench.lease()?.spec?.holderIdentity ?? '', /^test_/u);
  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
  assert.equal(bench.lease()?.spec?.holderIdentity, '', 'the lease is given back');
  assert.match(program.log(), /"Stopped leading" .*reason="the lease was released"/u);
  assert.doesNotMatch(program.log(), /not the leader|holder=""/u);
  assert.ok(closed, 'the provider is closed');
  await assert.rejects(page(`${program.url}/healthz`));
  const elections = bench.server.store
    .list({ plural: 'events' })
    .map((event) => event as { reason?: string; message?: string })
    .filter(({ reason }) => reason === 'LeaderElection');
  assert.deepEqual(elections.map(({ message = '' }) => message.replace(/^\S+ /u, '')).toSorted(), [
    'became leader',
    'stopped leading',
  ]);
  const agents = new Set(
    bench.server.requests.filter(({ method }) => method === 'PATCH').map(({ userAgent }) => userAgent),
  );
  for (const agent of agents) assert.match(agent ?? '', /^outrigger\/\S+ \(\S+\) external-controller-manager$/u);
});

test('of two replicas one works; when it stops, the other takes over at once', async () => {
  await using bench = await Bench.start();
  const first = await bench.run(greenCloud());
  await until('first leads', () => (bench.lease()?.spec?.holderIdentity ?? '') !== '', first.log);
  const leader = bench.lease()?.spec?.holderIdentity;
  const second = await bench.run(greenCloud());
  await until('second waits', () => second.log().includes('Attempting to acquire'), second.log);
  assert.equal(await page(`${second.url}/healthz`), 'ok');
  first.signal('SIGTERM');
  assert.equal(await first.ended, 0);
  bench.addNode('node-2');
  await until('second initialises', () => bench.isInitialised('node-2'), second.log);
  assert.notEqual(bench.lease()?.spec?.holderIdentity, leader);
});

test('a lease that another one has taken ends the program with 1, and it writes nothing more', async () => {
  await using bench = await Bench.start();
  const program = await bench.run(greenCloud());
  await until('leads', () => (bench.lease()?.spec?.holderIdentity ?? '') !== '', program.log);
  await until('controller runs', () => program.log().includes('Controller started'), program.log);
  const lease = bench.lease();
  assert.ok(lease?.metadata.name);
  bench.server.store.put({
    ...lease,
    spec: { ...lease.spec, holderIdentity: 'thief', renewTime: '2099-01-01T00:00:00.000000Z' },
  });
  assert.equal(await program.ended, 1, program.log());
  assert.match(program.log(), /Leadership lost/u);
  bench.addNode('node-3');
  await systemClock.sleep(200);
  assert.ok(!bench.isInitialised('node-3'));
  assert.equal(bench.lease()?.spec?.holderIdentity, 'thief');
});

test('without leader election there is no lease; a provider without instances is waited with', async () => {
  await using bench = await Bench.start();
  const bare: CloudProvider = {
    name: 'green',
    open: () => Promise.resolve({}),
    close: () => Promise.resolve(),
  };
  const program = await bench.run(bare, '--leader-elect=false');
  await until('waits', () => program.log().includes('Controller is waiting'), program.log);
  assert.match(
    program.log(),
    /^W.*"The provider has no capabilities: no controller uses it until .*provider="green"/mu,
  );
  program.signal('SIGINT');
  assert.equal(await program.ended, 0, program.log());
  assert.equal(bench.lease(), undefined);
});

test('of several providers, each that has no capabilities is warned of', async () => {
  await using bench = await Bench.start();
  const bare = `export default () => ({ name: 'bare', open: async () => ({}), close: async () => {} });`;
  await writeFile(join(bench.directory, 'bare.mjs'), bare);
  const program = await bench.run(greenCloud(), '--leader-elect=false', '--cloud-provider=green,./bare.mjs');
  await until('starts', () => program.log().includes('"Started"'), program.log);
  const warned = program.log().match(/^W.*"The provider has no capabilities: .*$/gmu) ?? [];
  assert.deepEqual(
    warned.map((line) => /provider="\w+"/u.exec(line)?.[0]),
    ['provider="bare"'],
  );
  program.signal('SIGINT');
  assert.equal(await program.ended, 0, program.log());
});

test('a program that lacks its rights is told at its start which command prints them', async () => {
  await using bench = await Bench.start();
  const message = 'namespaces "kube-system" is forbidden: User "ccm" cannot get resource "namespaces"';
  const server = createServer((_request, response) => {
    const status = { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 403, reason: 'Forbidden', message };
    response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const { port } = server.address() as AddressInfo;
    const program = await bench.run(greenCloud(), `--master=http://127.0.0.1:${port}`);
    assert.equal(await program.ended, 1);
    assert.match(
      program.log(),
      /"Cannot start" err=".*cannot get resource.*remedy="grant what \\"outrigger rbac\\" prints/u,
    );
  } finally {
    server.close();
  }
});

test('refused credentials are told at once, while the provider is still being opened', async () => {
  await using bench = await Bench.start();
  const refusal = new CloudError('unauthenticated', 'keystone refuses the password');
  const keystone: CloudProvider = {
    name: 'green',
    open: async (host) => {
      const call = host.callContext();
      await call
        .call({ name: 'POST /v3/auth/tokens', bucket: 'identity' }, () => Promise.reject(refusal))
        .catch(() => {});
      return new Promise(() => {});
    },
    close: () => Promise.resolve(),
  };
  const program = await bench.run(keystone);
  const reasons = (): readonly unknown[] =>
    bench.server.store.list({ plural: 'events' }).map((event) => (event as { reason?: string }).reason);
  await until('Event', () => reasons().includes('CloudCredentialsRefused'), program.log);
  assert.match(program.log(), /"The cloud refuses the credentials" provider="green" service="identity"/u);
  assert.match(
    await page(`${program.url}/readyz?verbose`),
    /^\[\+\]cloud-green ok \(failing: identity: unauthenticated/mu,
  );
  const metrics = await page(`${program.url}/metrics`);
  assert.match(metrics, /^outrigger_cloud_answers\{provider="green",service="identity"\} 0$/mu);
  program.signal('SIGTERM');
  assert.equal(await program.ended, 0, program.log());
});

test('a provider that refuses its configuration ends the start with one line and 1', async () => {
  await using bench = await Bench.start();
  const picky: CloudProvider = {
    name: 'green',
    open: () => Promise.reject(Object.assign(new Error('region is not set'), { code: 'configuration' })),
    close: () => Promise.resolve(),
  };
  const program = await bench.run(picky);
  assert.equal(await program.ended, 1);
  assert.match(program.log(), /"Cannot start" err=".*region is not set.*code="configuration"/u);
  assert.equal(bench.lease(), undefined);
});
