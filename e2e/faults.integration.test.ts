import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import type { FaultRule } from '@outrigger/provider-memory';
import type { FaultRuleOptions } from '@outrigger/testing';
import { FaultyCluster, type RunOptions } from './faulty-cluster.ts';
import { Manager } from './manager.ts';

const COUNT = 12;

const cloudFaults: Readonly<Record<string, FaultRule>> = {
  'answers lists that are empty': { effect: 'empty' },
  'answers 429 with Retry-After': { effect: 'status', status: 429, retryAfterSeconds: 2 },
  'answers 500': { effect: 'status', status: 500 },
  'answers 401': { effect: 'status', status: 401 },
  'answers 404 of a path': { effect: 'status', status: 404 },
  'loses its answers': { effect: 'lost' },
  'never answers': { effect: 'hang' },
};

for (const [what, fault] of Object.entries(cloudFaults)) {
  test(`while the cloud ${what} the taints stay; then all nodes are initialised`, async (t) => {
    const cluster = await FaultyCluster.start(t);
    await cluster.addNodes(COUNT);
    cluster.cloud.setFaults([fault]);
    let asked = 0;
    cluster.run({
      twist: (provider) => countLookUps(provider, () => asked++),
    });
    await cluster.until('asked again', () => asked >= 2);
    assert.deepEqual(cluster.initialised(), []);
    for (const { spec } of cluster.nodes()) assert.equal(spec?.providerID, undefined);
    cluster.cloud.setFaults([]);
    await cluster.converged();
  });
}

test('what a partial list holds is initialised; the rest keeps its taint until the list is whole', async (t) => {
  const cluster = await FaultyCluster.start(t);
  await cluster.addNodes(COUNT);
  const [missing] = cluster.machines;
  assert.ok(missing);
  const { addresses } = cluster.cloud.instances().find(({ name }) => name === missing.name)!;
  cluster.cloud.deleteInstance(missing.name);
  cluster.run();
  await cluster.until('the others', () => cluster.initialised().length === COUNT - 1);
  await systemClock.sleep(100);
  assert.ok(!cluster.initialised().includes(missing.name));
  cluster.nothingLost();
  cluster.cloud.createInstance({ name: missing.name, zone: missing.zone, addresses });
  await cluster.converged();
});

test('a provider whose answers are too few, too many, or nothing at all initialises no node by mistake', async (t) => {
  const cluster = await FaultyCluster.start(t);
  await cluster.addNodes(COUNT);
  const wrong: readonly ((answers: readonly unknown[]) => unknown)[] = [
    (answers) => answers.slice(1),
    (answers) => [...answers, answers[0]],
    () => [],
    () => undefined,
    (answers) => answers.map(() => undefined),
    (answers) => answers.map(() => ({ result: { kind: 'found' } })),
  ];
  let asked = 0;
  let healed = false;
  cluster.run({
    twist: (provider) => ({
      ...provider,
      open: async (host) => {
        const { instances, ...others } = await provider.open(host);
        assert.ok(instances);
        return {
          ...others,
          instances: {
            batchSize: instances.batchSize,
            read: (...args) => instances.read(...args),
            lookUp: async (...args) => {
              const answers = await instances.lookUp(...args);
              if (healed) return answers;
              return wrong[asked++ % wrong.length]?.(answers) as typeof answers;
            },
          },
        };
      },
    }),
  });
  await cluster.until('each kind of nonsense was answered', () => asked >= wrong.length);
  assert.deepEqual(cluster.initialised(), []);
  healed = true;
  await cluster.converged();
});

const writes = { method: 'PATCH', resource: 'nodes' } as const;
const apiFaults: Readonly<Record<string, FaultRuleOptions>> = {
  'answers writes with 409': { match: { ...writes, times: 30 }, fault: { type: 'status', code: 409 } },
  'answers writes with 422': { match: { ...writes, times: 20 }, fault: { type: 'status', code: 422 } },
  'answers writes with 429': {
    match: { ...writes, times: 20 },
    fault: { type: 'status', code: 429, retryAfterSeconds: 1 },
  },
  'answers writes with 500': { match: { ...writes, times: 30 }, fault: { type: 'status', code: 500 } },
  'answers writes with 504': { match: { ...writes, times: 20 }, fault: { type: 'status', code: 504 } },
  'loses the answers to writes': { match: { ...writes, times: 6 }, fault: { type: 'lose-answer' } },
  'resets connections': { match: { ...writes, times: 4 }, fault: { type: 'reset' } },
  'never answers some writes': { match: { ...writes, times: 2 }, fault: { type: 'hang' } },
  freezes: { match: { ...writes, times: 1 }, fault: { type: 'freeze' } },
  'answers watches with 410': {
    match: { verb: 'watch', resource: 'nodes', times: 3 },
    fault: { type: 'status', code: 410, reason: 'Expired' },
  },
  'answers watches with 429': {
    match: { verb: 'watch', resource: 'nodes', times: 3 },
    fault: { type: 'status', code: 429, retryAfterSeconds: 1 },
  },
  'ends watches in half a line': {
    match: { verb: 'watch', resource: 'nodes', times: 3 },
    fault: { type: 'half-line', afterLines: 2 },
  },
  'cuts watches': {
    match: { verb: 'watch', resource: 'nodes', times: 3 },
    fault: { type: 'cut-watch', afterEvents: 3, how: 'reset' },
  },
  'answers with 401': { match: { resource: 'nodes', times: 4 }, fault: { type: 'status', code: 401 } },
};

for (const [what, rule] of Object.entries(apiFaults)) {
  test(`an API server that ${what} loses nothing, and all nodes are initialised`, async (t) => {
    const cluster = await FaultyCluster.start(t);
    await cluster.addNodes(COUNT);
    const fault = cluster.proxy.add(rule);
    cluster.run();
    await cluster.converged();
    assert.ok(fault.hits > 0, 'the fault has struck');
  });
}

test('no taint goes before the status was written', async (t) => {
  const cluster = await FaultyCluster.start(t);
  await cluster.addNodes(COUNT);
  const rule = cluster.proxy.add({
    match: { ...writes, path: /\/status/u },
    fault: { type: 'status', code: 500 },
  });
  cluster.run();
  await cluster.until('tried for each node and again', () => rule.hits > 3 * COUNT);
  assert.deepEqual(cluster.initialised(), []);
  rule.remove();
  await cluster.converged();
});

test('a server that forgets its past, and restarts, is listed anew', async (t) => {
  const cluster = await FaultyCluster.start(t);
  cluster.run();
  await cluster.until('watches', () => cluster.proxy.openWatches > 0);
  await cluster.addNodes(COUNT);
  cluster.server.compact();
  cluster.proxy.cutWatches('reset');
  await cluster.server.restart();
  await cluster.converged();
});

test('the password in the URL of a cloud that is not there is told to nobody', async (t) => {
  const cluster = await FaultyCluster.start(t);
  await cluster.addNodes(2);
  await cluster.moveCloudAway();
  const { log } = cluster.run();
  const told = (): number => cluster.server.store.list({ plural: 'events' }).length;
  await cluster.until('an Event says that the cloud cannot be asked', () => told() > 0);
  assert.match(log(), /cloud/u);
  cluster.noSecretsTold();
  assert.deepEqual(cluster.initialised(), []);
});

test('what is wrong on the command line ends the start with one line and 1, before anything is touched', async (t) => {
  const cluster = await FaultyCluster.start(t);
  await cluster.addNodes(1);
  const broken = join(cluster.directory, 'broken');
  await writeFile(broken, 'users: [');
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['--no-such-flag', /no-such-flag/u],
    ['--concurrent-node-syncs=0', /"0" for --concurrent-node-syncs/u],
    ['--concurrent-node-syncs=many', /--concurrent-node-syncs/u],
    ['--leader-elect=perhaps', /--leader-elect/u],
    ['--controllers=nonsense', /--controllers.*nonsense/u],
    ['--cloud-provider=', /--cloud-provider/u],
    ['--cloud-provider=./no-such-module.mjs', /no-such-module/u],
    ['--cloud-config=no-such-file', /--cloud-config=no-such-file/u],
    ['--kubeconfig=no-such-file', /no-such-file/u],
    [`--kubeconfig=${broken}`, /broken/u],
    ['--node-status-update-frequency=5', /--node-status-update-frequency/u],
  ];
  for (const [arg, message] of wrong) {
    const program = cluster.run({ args: [arg], mustFail: true });
    assert.equal(await program.ended, 1, arg);
    assert.match(program.log(), message);
    assert.equal(program.log().trimEnd().split('\n').length, 1, program.log());
  }
  assert.deepEqual(cluster.proxy.calls.calls, [], 'no request reached the API server');
  assert.equal(cluster.cloud.calls().total, 0, 'nor the cloud');
  assert.deepEqual(cluster.initialised(), []);
});

test('SIGTERM amid the initialisation gives the lease back and ends with 0; the next start finishes the work', async (t) => {
  const cluster = await FaultyCluster.start(t);
  // After the first ones, rounds of writes of two seconds each: the signal comes amid them, also where this process is late with it.
  await cluster.addNodes(120);
  cluster.proxy.add({ match: { ...writes, times: 40 }, fault: { type: 'latency', ms: 100 } });
  const slow = cluster.proxy.add({ match: writes, fault: { type: 'latency', ms: 2_000 } });
  const lease = (): string | undefined => {
    const found = cluster.server.store.get(
      { group: 'coordination.k8s.io', plural: 'leases' },
      'cloud-controller-manager',
      'kube-system',
    );
    return (found as { spec?: { holderIdentity?: string } } | undefined)?.spec?.holderIdentity;
  };
  const log = join(cluster.directory, 'log');
  await using manager = new Manager(
    [
      '--cloud-provider=memory',
      `--cloud-config=${cluster.cloudConfig}`,
      `--kubeconfig=${cluster.kubeconfig}`,
      '--secure-port=0',
    ],
    log,
  );
  manager.start();
  await cluster.until('some are initialised', () => cluster.initialised().length > 4);
  assert.notEqual(lease(), '');
  assert.equal(await manager.end('SIGTERM'), 0);
  const done = cluster.initialised().length;
  assert.ok(done < 120, `amid the work: ${done}`);
  assert.equal(lease(), '', 'the lease was given back');
  for (const node of cluster.nodes()) {
    // The provider ID comes with the patch that takes the taint.
    assert.equal(node.spec?.providerID !== undefined, cluster.initialised().includes(node.metadata?.name ?? ''));
  }
  const { calls } = cluster.proxy.calls;
  const sent = calls.length;
  await systemClock.sleep(100);
  assert.equal(cluster.initialised().length, done, 'nothing is done any more');
  assert.equal(calls.length, sent, 'nor asked');

  slow.remove();
  manager.start();
  await cluster.converged();
  assert.equal(await manager.end('SIGTERM'), 0);
});

function countLookUps(
  provider: Parameters<NonNullable<RunOptions['twist']>>[0],
  counted: () => void,
): ReturnType<NonNullable<RunOptions['twist']>> {
  return {
    ...provider,
    open: async (host) => {
      const { instances, ...others } = await provider.open(host);
      assert.ok(instances);
      return {
        ...others,
        instances: {
          batchSize: instances.batchSize,
          read: (...args) => instances.read(...args),
          lookUp: (...args) => {
            counted();
            return instances.lookUp(...args);
          },
        },
      };
    },
  };
}
