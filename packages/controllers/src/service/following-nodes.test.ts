// Over 400 lines: one rig, and one test for each way in which nodes come, change and go.
/** Load balancers follow the nodes, whatever a Service is waiting for, and however many there are. */
import assert from 'node:assert/strict';
import { threadCpuUsage } from 'node:process';
import { test } from 'node:test';
import { CloudError, type LoadBalancerPart } from '@outrigger/cloud-provider';
import { noMetrics, silentLogger, type Metrics } from '@outrigger/kube';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import type { Machines } from './machines.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { partOf, READY } from './told-cloud.suite.ts';
import { excludeLabel, toBeDeletedTaintKey } from './well-known-names.ts';

const backEndsOf = (rig: Rig): unknown =>
  rig.cloud.parts().find(({ kind }) => kind === 'load-balancer')?.attributes.backEnds;
const ingressOf = (rig: Rig, name = 'web'): unknown => rig.api.get(name)?.status?.loadBalancer?.ingress;

async function begun(): Promise<Rig> {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  return rig;
}

test('a process that starts without nodes takes the one that joins at once', async () => {
  const rig = await begun();
  await rig.start();
  await rig.clock.advance(0);
  await rig.stop();
  rig.api.nodes.remove('n1');
  await rig.start();
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1'], 'the last ones stay for a while');
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(2_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n2']);
  await rig.stop();
});

test('where a provider takes nodes of nobody known they are back ends, at the start and when they join, and else never', async () => {
  for (const takesForeignNodes of [true, false]) {
    const rig = await begun();
    rig.provider.takesForeignNodes = takesForeignNodes;
    rig.provider.selectBackEnds = (_service, backEnds) => backEnds;
    rig.api.nodes.put(nodeOf('n2', { spec: { providerID: 'rke2://n2' } }));
    await rig.start();
    await rig.clock.advance(0);
    const own = ['memory://r/n1'];
    assert.deepEqual(backEndsOf(rig), takesForeignNodes ? [...own, 'rke2://n2'] : own);
    rig.api.nodes.put(nodeOf('n3', { spec: { providerID: 'rke2://n3' } }));
    await rig.clock.advance(2_000);
    assert.deepEqual(backEndsOf(rig), takesForeignNodes ? [...own, 'rke2://n2', 'rke2://n3'] : own);
    await rig.stop();
  }
});

test('where a provider takes those that are there at the start, they are back ends at the addresses of then; who joins or moves is told of', async () => {
  const rig = await begun();
  Object.assign(rig.provider, { takesForeignNodes: 'at-start' });
  let members: readonly string[] = [];
  rig.provider.selectBackEnds = (_service, backEnds) => backEnds;
  rig.provider.before = (_, { backEnds }) => {
    members = backEnds
      .flatMap(({ addresses }) => addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address))
      .toSorted();
  };
  const foreign = (name: string, ...all: readonly string[]): void => {
    const addresses = [
      ...all.map((address) => ({ type: 'InternalIP' as const, address })),
      { type: 'Hostname' as const, address: name },
    ];
    rig.api.nodes.put(nodeOf(name, { spec: { providerID: `rke2://${name}` }, status: { addresses } }));
  };
  foreign('standing', '10.1.0.1');
  const machines: Machines = {
    known: () => undefined,
    lookUp: () => Promise.resolve({ kind: 'missing' }),
    read: () => Promise.resolve({ kind: 'missing' }),
  };
  await rig.start({}, { machines });
  await rig.clock.advance(1_000);
  assert.deepEqual(members, ['10.0.0.1', '10.1.0.1']);
  foreign('joins', '10.1.0.2');
  foreign('standing', '10.1.0.1', '10.9.9.9');
  await rig.clock.advance(60_000);
  assert.deepEqual(members, ['10.0.0.1', '10.1.0.1']);
  assert.deepEqual([rig.reasons('joins'), rig.reasons('standing')], [['BackEndUnconfirmed'], []]);
  assert.ok(rig.observed('web').some(({ text }) => text.includes('the node joins')));
  // It leaves and comes back by its own label, with an address that it did not have.
  rig.api.nodes.put(nodeOf('standing', { metadata: { uid: 'uid-standing', labels: { [excludeLabel]: 'true' } } }));
  foreign('standing', '10.9.9.9');
  await rig.clock.advance(60_000);
  assert.deepEqual(members, ['10.0.0.1']);
  assert.deepEqual(rig.reasons('standing'), ['BackEndUnconfirmed']);
  // The administrator says so, and takes it back: what is a back end stays one.
  Object.assign(rig.provider, { takesForeignNodes: true });
  rig.reconfigured();
  await rig.clock.advance(60_000);
  assert.deepEqual(members, ['10.0.0.1', '10.1.0.2', '10.9.9.9']);
  Object.assign(rig.provider, { takesForeignNodes: 'at-start' });
  rig.reconfigured();
  foreign('joins', '10.1.0.3');
  await rig.clock.advance(60_000);
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081 }] });
  await rig.clock.advance(60_000);
  assert.deepEqual(members, ['10.0.0.1', '10.1.0.2', '10.9.9.9']);
  await rig.stop();
});

test('nodes of nobody known leave and come back as a changed cloud config says, and five minutes later where no others are left', async () => {
  for (const own of [['memory://r/n1'], []]) {
    const rig = await begun();
    rig.provider.takesForeignNodes = true;
    rig.provider.selectBackEnds = (_service, backEnds) => backEnds;
    if (own.length === 0) rig.api.nodes.remove('n1');
    rig.api.nodes.put(nodeOf('n2', { spec: { providerID: 'rke2://n2' } }));
    rig.api.nodes.put(nodeOf('n3', { spec: {} }));
    await rig.start();
    await rig.clock.advance(5_000);
    const all = ['', ...own, 'rke2://n2'];
    assert.deepEqual(backEndsOf(rig), all);
    rig.provider.takesForeignNodes = false;
    rig.reconfigured();
    await rig.clock.advance(280_000);
    assert.deepEqual(backEndsOf(rig), own.length > 0 ? own : all);
    if (own.length === 0) assert.equal(rig.reasons('web').at(-1), 'UnAvailableLoadBalancer');
    await rig.clock.advance(30_000);
    assert.deepEqual(backEndsOf(rig), own);
    rig.provider.takesForeignNodes = true;
    rig.reconfigured();
    await rig.clock.advance(5_000);
    assert.deepEqual(backEndsOf(rig), all);
    await rig.stop();
  }
});

test('nodes of nobody known that are back ends are counted, and told of at the start and when the cloud config changes', async () => {
  const rig = await begun();
  rig.provider.takesForeignNodes = true;
  rig.api.nodes.put(nodeOf('n2', { spec: { providerID: 'rke2://n2' } }));
  rig.api.nodes.put(nodeOf('n3', { spec: {} }));
  const gauges = new Map<string, string>();
  const collectors: (() => void)[] = [];
  const metrics: Metrics = {
    ...noMetrics,
    gauge: ({ name }) => ({ set: (value, labels) => void gauges.set(name, JSON.stringify([labels, value])) }),
    onCollect: (collect) => void collectors.push(collect),
  };
  const told: unknown[] = [];
  const logger = {
    ...silentLogger,
    warn: (message: string, fields?: unknown) => void told.push([message.split('; ')[1], fields]),
  };
  await rig.start({}, { logger, metrics });
  const counted: unknown[] = [];
  for (const takes of [true, false]) {
    rig.provider.takesForeignNodes = takes;
    rig.reconfigured();
    for (const collect of collectors) collect();
    counted.push(gauges.get('outrigger_load_balancer_foreign_nodes'));
  }
  const line = ['to exclude them, set foreign to false', { provider: 'memory', nodes: 2 }];
  assert.deepEqual(told, [line, line]);
  assert.deepEqual(counted, ['[{"provider":"memory"},2]', '[{"provider":"memory"},0]']);
  await rig.stop();
});

test('a changed cloud config does not end the hold of a node that changes over and over', async () => {
  const rig = await begun();
  const excluded = { metadata: { labels: { [excludeLabel]: 'true' } } };
  await rig.start();
  for (const more of [{}, excluded, {}, excluded]) {
    rig.api.nodes.put(nodeOf('n2', more));
    await rig.clock.advance(3_000);
  }
  assert.ok(rig.events.some(({ reason }) => reason === 'BackEndFlapping'));
  rig.reconfigured();
  await rig.clock.advance(3_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  await rig.stop();
});

test('nodes that the first list tells in a later slice are back ends from the start', async () => {
  const rig = await begun();
  rig.api.nodes.put(nodeOf('n2'));
  const rest = Promise.withResolvers<void>();
  rig.api.nodes.firstSlice = { size: 1, rest: rest.promise };
  await rig.start();
  await rig.clock.advance(0);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  rest.resolve();
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});

test('a node that joins while the first status is being written becomes a back end', async () => {
  const rig = await begun();
  let patches = 0;
  // The status takes three seconds to write.
  rig.api.writing = async () => {
    if (++patches === 2) await rig.clock.sleep(3_000);
  };
  await rig.start();
  await rig.clock.advance(500);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(10_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  assert.ok(ingressOf(rig));
  await rig.stop();
});

test('a node that joins while the cloud is at work on the load balancer becomes a back end', async () => {
  const rig = await begun();
  rig.cloud.configure({ loadBalancerDelayMs: 20_000 });
  await rig.start();
  await rig.clock.advance(5_000);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(120_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});

test('while a load balancer is being made, a node that joins brings no look forward', async () => {
  const next: number[] = [];
  for (const joins of [false, true]) {
    const rig = await begun();
    rig.cloud.configure({ loadBalancerDelayMs: 60_000 });
    await rig.start();
    await rig.clock.advance(20_000);
    const looks: number[] = [];
    rig.provider.observing = () => void looks.push(rig.clock.monotonic());
    if (joins) rig.api.nodes.put(nodeOf('n2'));
    await rig.clock.advance(60_000);
    next.push(looks[0] ?? 0);
    await rig.stop();
  }
  assert.ok(next[0]! > 0);
  assert.equal(next[1], next[0]);
});

test('a node whose labels come to select it becomes a back end, and leaves with them', async () => {
  const rig = await createRig();
  rig.provider.selectBackEnds = (_service, all) => all.filter(({ node }) => node.labels.env === 'prod');
  rig.api.nodes.put(nodeOf('n1', { metadata: { labels: { env: 'prod' } } }));
  rig.api.nodes.put(nodeOf('n2'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1']);
  rig.api.nodes.put(nodeOf('n2', { metadata: { labels: { env: 'prod' } } }));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2']);
  rig.api.nodes.put(nodeOf('n1'));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n2']);
  await rig.stop();
});

test('labels that select nothing else cost no look at the cloud', async () => {
  const rig = await begun();
  await rig.start();
  await rig.clock.advance(1_000);
  const { observes } = rig.provider;
  rig.api.nodes.put(nodeOf('n1', { metadata: { labels: { a: 'b' } } }));
  await rig.clock.advance(10_000);
  assert.equal(rig.provider.observes, observes);
  await rig.stop();
});

test('a node whose removal the autoscaler calls off is a back end again', async () => {
  const rig = await begun();
  rig.api.nodes.put(nodeOf('n2'));
  await rig.start();
  await rig.clock.advance(5_000);
  const taints = [{ key: toBeDeletedTaintKey, effect: 'NoSchedule' as const }];
  rig.api.nodes.put(nodeOf('n1', { spec: { providerID: 'memory://r/n1', taints } }));
  rig.api.nodes.put(nodeOf('n3'));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n2', 'memory://r/n3']);
  rig.api.nodes.put(nodeOf('n1'));
  await rig.clock.advance(5_000);
  assert.deepEqual(backEndsOf(rig), ['memory://r/n1', 'memory://r/n2', 'memory://r/n3']);
  await rig.stop();
});

test('one that failed because of its nodes, and is not tried again by itself, is tried when they change', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('bad'));
  rig.provider.before = (_action, { backEnds }) => {
    if (backEnds.some(({ node }) => node.name === 'bad')) throw new CloudError('invalid', 'bad is in no subnet');
  };
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(1_000);
  rig.api.nodes.remove('bad');
  rig.api.nodes.put(nodeOf('good'));
  await rig.clock.advance(600_000);
  assert.ok(ingressOf(rig));
  await rig.stop();
});

test('what was never served is not tried more often for nodes that join', async () => {
  const rig = await begun();
  let tries = 0;
  rig.provider.before = () => {
    tries += 1;
    throw new CloudError('quota', 'no more addresses');
  };
  await rig.start();
  await rig.clock.advance(1_000);
  for (let i = 0; i < 50; i++) {
    rig.api.nodes.put(nodeOf(`m${i}`));
    await rig.clock.advance(2_000);
  }
  assert.equal(tries, 1);
  await rig.stop();
});

test('what was never served and is not finished yet goes on when its provider says, however many nodes join', async () => {
  const rig = await begun();
  rig.provider.before = () => {
    throw new CloudError('retry-after', 'the network is being made', { effect: 'none', retryAfterMs: 120_000 });
  };
  await rig.start();
  await rig.clock.advance(1_000);
  const { observes } = rig.provider;
  for (let i = 0; i < 50; i++) {
    rig.api.nodes.put(nodeOf(`m${i}`));
    await rig.clock.advance(2_000);
  }
  assert.equal(rig.provider.observes, observes);
  assert.deepEqual(rig.planned('web').at(-1), { text: 'Retry.', inMs: 19_000 });
  await rig.clock.advance(20_000);
  assert.ok(rig.provider.observes > observes);
  await rig.stop();
});

const crowdOf = (rig: Rig, count: number, beat: string): void => {
  rig.api.nodes.holdWatch = true;
  for (let i = 0; i < count; i++) {
    const name = `node-${String(i).padStart(5, '0')}`;
    const addresses = [
      { type: 'InternalIP' as const, address: `10.${i >> 8}.${i & 255}.1` },
      { type: 'Hostname' as const, address: name },
    ];
    rig.api.nodes.put(nodeOf(name, { metadata: { annotations: { beat } }, status: { addresses } }));
  }
  rig.api.nodes.holdWatch = false;
  rig.api.nodes.publish();
};

/** Processor time of this thread: a busy machine holds the event loop too, which is none of the controller's doing. */
function computedMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1_000;
}

const NODES = 5_000;
const SERVICES = 1_000;

interface Joined {
  /** The longest turn of the event loop; processor time. */
  readonly longestMs: number;
  /** Services whose back ends were selected for it. */
  readonly selections: number;
  /** Questions to the cloud that the node has brought about. */
  readonly looks: number;
  /** Plans that have it. */
  readonly plans: number;
}

/** A node joins 5,000, all of which are read anew in the same moment, with 1,000 Services that look at all of them. */
async function joins5000(select: Rig['provider']['selectBackEnds']): Promise<Joined> {
  const rig = await createRig();
  crowdOf(rig, NODES, 'first');
  rig.provider.selectBackEnds = (service, all) => {
    selections += 1;
    return select(service, all);
  };
  rig.provider.observe = (services) => {
    looks += 1;
    const partsOf = (uid: string): readonly LoadBalancerPart[] => [
      partOf(`load-balancer ${uid}`, { owner: { clusterId: CLUSTER, uid } }),
    ];
    const asOf = rig.clock.monotonic();
    return Promise.resolve(services.map(({ uid }) => ({ kind: 'parts', asOf, parts: partsOf(uid) })));
  };
  rig.provider.plan = ({ backEnds }) => {
    if (backEnds.at(-1)?.node.name === 'node-99999') plans += 1;
    return READY;
  };
  let selections = 0;
  let looks = 0;
  let plans = 0;
  rig.api.services.holdWatch = true;
  for (let i = 0; i < SERVICES; i++) rig.api.apply(`web${i}`, webSpec);
  rig.api.services.holdWatch = false;
  rig.api.services.publish();
  await rig.start({ concurrentServiceSyncs: SERVICES });
  // A turn of the event loop is for few Services, and the clock gives few turns.
  const names = Array.from({ length: SERVICES }, (_, i) => `web${i}`);
  for (let i = 0; i < 100 && !names.every((name) => ingressOf(rig, name)); i++) await rig.clock.advance(100);
  assert.ok(
    names.every((name) => ingressOf(rig, name)),
    'all are served',
  );
  await rig.clock.advance(60_000);
  crowdOf(rig, NODES, 'second');
  rig.api.nodes.put(nodeOf('node-99999'));
  [selections, looks] = [0, 0];
  let longestMs = 0;
  let on = true;
  let last = computedMs();
  const tick = (): void => {
    longestMs = Math.max(longestMs, computedMs() - last);
    last = computedMs();
    if (on) setImmediate(tick);
  };
  setImmediate(tick);
  await rig.clock.advance(5_000);
  // The slices outlast the few turns that the clock gives.
  for (let i = 0; i < 400; i++) await rig.clock.settle();
  on = false;
  await rig.stop();
  return { longestMs, selections, looks, plans };
}

test('a node that joins 5,000 and that none of 1,000 Services selects costs no look, and does not hold the event loop', async (t) => {
  const { looks, longestMs, plans, selections } = await joins5000((_service, all) =>
    all.filter(({ node }) => node.name !== 'node-99999'),
  );
  assert.ok(selections >= SERVICES, `${selections} selections`);
  assert.deepEqual([looks, plans], [0, 0], 'nobody selects it');
  t.diagnostic(`longest turn of the event loop: ${longestMs.toFixed(1)} ms of processor time`);
  assert.ok(longestMs < 50, `the event loop was held for ${longestMs} ms`);
});

test('a node that joins 5,000 and that all of 1,000 Services select is looked at for by each, and does not hold the event loop', async (t) => {
  // Each goes through all nodes by itself: what a provider costs that remembers nothing.
  const { looks, longestMs, plans } = await joins5000((_service, all) => all.filter(({ node }) => node.name !== ''));
  assert.ok(looks >= 1, 'the cloud is asked');
  assert.equal(plans, SERVICES);
  t.diagnostic(`longest turn of the event loop: ${longestMs.toFixed(1)} ms of processor time`);
  assert.ok(longestMs < 50, `the event loop was held for ${longestMs} ms`);
});

test('the back ends of a Service are selected once for each version of it and of the nodes', async () => {
  const rig = await begun();
  let selections = 0;
  let plans = 0;
  const { plan, selectBackEnds } = rig.provider;
  rig.provider.selectBackEnds = (service, all) => {
    selections += 1;
    return selectBackEnds(service, all);
  };
  rig.provider.plan = (desired, parts) => {
    plans += 1;
    return plan(desired, parts);
  };
  await rig.start();
  await rig.clock.advance(60_000);
  assert.ok(ingressOf(rig));
  [selections, plans] = [0, 0];
  rig.api.apply('web', { ...webSpec, ports: [{ port: 443, protocol: 'TCP', nodePort: 30_443 }] });
  await rig.clock.advance(60_000);
  assert.ok(plans > 0);
  // It is changed once here, and written once by the controller.
  assert.ok(selections <= 2, `${selections} selections for ${plans} plans`);
  await rig.stop();
});

test('who asks for something takes turns with those of its namespace that follow a node, and is not behind all of them', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  for (let i = 0; i < 60; i++) rig.api.apply(`web${i}`, webSpec);
  await rig.start({ concurrentServiceSyncs: 1 });
  await rig.clock.advance(5_000);
  rig.provider.before = () => rig.clock.sleep(100);
  rig.provider.observing = () => rig.clock.sleep(50);
  const { applied } = rig.provider;
  const followed = (): number => applied.filter((words) => words.startsWith('update')).length;
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(1_400);
  const before = followed();
  assert.ok(before < 60, `${before} of 60 follow at once`);
  rig.api.apply('new', webSpec);
  rig.api.apply('web59', { ...webSpec, ports: [{ port: 81, protocol: 'TCP', nodePort: 30_081 }] });
  rig.api.delete('web58');
  const isDone = (): boolean =>
    ['create load-balancer new', 'update load-balancer web59', 'delete load-balancer web58'].every((words) =>
      applied.includes(words),
    );
  const began = rig.clock.monotonic();
  while (!isDone() && rig.clock.monotonic() < began + 20_000) await rig.clock.advance(50);
  const ms = rig.clock.monotonic() - began;
  assert.ok(followed() < 55, `only after ${followed()} of 60 have followed, and ${ms} ms`);
  await rig.clock.advance(20_000);
  assert.equal(followed(), 59 + 1, 'all follow');
  await rig.stop();
});

test('a Service that is changed before it has followed a node is asked about with new ones, beside those that only follow', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  for (const name of ['web1', 'web2', 'web3']) rig.api.apply(name, webSpec);
  await rig.start();
  await rig.clock.advance(5_000);
  const looks: string[] = [];
  const observe = rig.provider.observe.bind(rig.provider);
  rig.provider.observe = (services, call) => {
    looks.push(services.map(({ name }) => name).join(' '));
    return observe(services, call);
  };
  rig.provider.observing = () => rig.clock.sleep(1_900);
  rig.api.apply('new1', webSpec);
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(500);
  rig.api.apply('web3', { ...webSpec, ports: [{ port: 81, protocol: 'TCP', nodePort: 30_081 }] });
  rig.api.apply('new2', webSpec);
  await rig.clock.advance(5_000);
  assert.deepEqual(
    looks.slice(0, 3).map((names) => names.split(' ').toSorted()),
    [['new1'], ['web1', 'web2'], ['new2', 'web3']],
  );
  await rig.clock.advance(20_000);
  await rig.stop();
});

test('a namespace has one question of each kind in flight: about those that follow a node, and those that ask for something', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  for (let i = 0; i < 60; i++) rig.api.apply(`web${i}`, webSpec);
  await rig.start();
  await rig.clock.advance(5_000);
  let inFlight = 0;
  let most = 0;
  rig.provider.observing = async () => {
    most = Math.max(most, (inFlight += 1));
    await rig.clock.sleep(1_000);
    inFlight -= 1;
  };
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(500);
  for (let i = 0; i < 5; i++) {
    for (let j = 0; j < 12; j++) rig.api.apply(`new${i}-${j}`, webSpec);
    await rig.clock.advance(500);
  }
  await rig.clock.advance(20_000);
  assert.equal(most, 2, 'the other places are for other namespaces');
  await rig.stop();
});
