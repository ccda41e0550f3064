import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type InstanceResult, type NodeAddress } from '@outrigger/cloud-provider';
import type { Machines } from './machines.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';
import { excludeLabel } from './well-known-names.ts';

const MINUTE_MS = 60_000;
const addresses = (...all: readonly string[]): NodeAddress[] => all.map((address) => ({ type: 'InternalIP', address }));
const nodeAt = (name: string, ...all: readonly string[]): ReturnType<typeof nodeOf> =>
  nodeOf(name, { status: { addresses: addresses(...all) } });

/** A cloud that says of a machine what `says` has, by the name of its node, when it is asked. */
class ToldMachines implements Machines {
  readonly says = new Map<string, InstanceResult | Error>();
  /** In the order of the questions. */
  readonly asked: string[] = [];
  /** What was last said, by the UID of the node. */
  readonly stored = new Map<string, InstanceResult>();
  /** Before each answer. */
  before: (name: string) => Promise<void> = () => Promise.resolve();

  known: Machines['known'] = ({ metadata }) => this.stored.get(metadata?.uid ?? '');
  lookUp: Machines['lookUp'] = (node) => this.#answer(node, node.name);
  read: Machines['read'] = (node) => this.#answer(node, `${node.name} directly`);

  has(name: string, ...all: readonly string[]): void {
    this.says.set(name, {
      kind: 'found',
      instance: { providerID: `memory://r/${name}`, state: 'running', addresses: addresses(...all) },
    });
  }

  /** How often this was asked. */
  count(question: string): number {
    return this.asked.filter((one) => one === question).length;
  }

  async #answer({ name, uid }: { name: string; uid: string }, question: string): Promise<InstanceResult> {
    this.asked.push(question);
    await this.before(name);
    const said = this.says.get(name) ?? { kind: 'missing' };
    if (said instanceof Error) throw said;
    this.stored.set(uid, said);
    return said;
  }
}

const ABSENT: InstanceResult = { kind: 'absent', proof: 'GET: 404' };
const failed = (code: 'invalid' | 'unavailable'): InstanceResult => ({
  kind: 'failed',
  error: new CloudError(code, code),
});

/** A node whose kubelet claims an address, before the program starts. Notes what becomes a member. */
async function openRig(): Promise<{ rig: Rig; machines: ToldMachines; members: () => readonly string[] }> {
  const rig = await createRig();
  rig.api.nodes.put(nodeAt('n1', '10.0.0.1', '10.0.0.66'));
  rig.api.nodes.put({ ...nodeOf('unknown'), spec: {} });
  rig.api.apply('web', webSpec);
  let last: readonly string[] = [];
  rig.provider.before = (_, { backEnds }) => {
    last = backEnds.flatMap((one) => one.addresses.map(({ address }) => address)).toSorted();
  };
  return { rig, machines: new ToldMachines(), members: () => last };
}

test('what a kubelet claims while nobody looks is no member: nodes are asked about before any load balancer is', async () => {
  const { machines, members, rig } = await openRig();
  const answer = Promise.withResolvers<void>();
  machines.has('n1', '10.0.0.1');
  machines.before = () => answer.promise;
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  assert.deepEqual(machines.asked, ['n1']);
  assert.deepEqual(rig.cloud.parts(), []);
  answer.resolve();
  await rig.clock.advance(1_000);
  assert.equal(rig.partsOf('uid-1').length, 4);
  assert.deepEqual(members(), ['10.0.0.1']);
  await rig.stop();
});

for (const what of ['hangs', 'fails', 'refuses'] as const) {
  test(`a cloud that ${what} when it is asked about nodes holds up load balancers for a while only`, async () => {
    const { machines, members, rig } = await openRig();
    const error = new Error('the cloud is down');
    if (what === 'hangs') machines.before = () => new Promise(() => {});
    else machines.says.set('n1', what === 'fails' ? error : { kind: 'failed', error });
    machines.says.set('n2', error);
    await rig.start({}, { machines });
    await rig.clock.advance(31_000);
    assert.equal(rig.partsOf('uid-1').length, 4);
    // It is not known that they are wrong: no member is taken away, and none is kept from joining.
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.66']);
    rig.api.nodes.put(nodeAt('n2', '10.0.0.2'));
    await rig.clock.advance(40_000);
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.2', '10.0.0.66']);
    await rig.stop();
  });
}

test('a node that cannot be asked about does not keep the answers about the others from being waited for', async () => {
  const { machines, members, rig } = await openRig();
  rig.api.nodes.put(nodeAt('n2', '10.0.0.2'));
  machines.says.set('n2', new Error('no such machine can be asked about'));
  machines.has('n1', '10.0.0.1');
  machines.before = (name) => (name === 'n1' ? rig.clock.sleep(5_000) : Promise.resolve());
  await rig.start({}, { machines });
  await rig.clock.advance(10_000);
  assert.equal(rig.partsOf('uid-1').length, 4);
  assert.deepEqual(members(), ['10.0.0.1', '10.0.0.2']);
  await rig.stop();
});

/** One that joins with an ID of its own making, in a cloud that says this of it. */
async function joined(answer: InstanceResult): ReturnType<typeof openRig> {
  const opened = await openRig();
  const { machines, rig } = opened;
  machines.has('n1', '10.0.0.1');
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  machines.says.set('liar', answer);
  rig.api.nodes.put(nodeAt('liar', '10.9.9.9'));
  return opened;
}

for (const answer of [{ kind: 'missing' }, ABSENT, failed('invalid')] as const) {
  test(`a node that joins with an ID of which the cloud says ${answer.kind} becomes a member when there is such a machine, and is told of`, async () => {
    const { machines, members, rig } = await joined(answer);
    await rig.clock.advance(10 * MINUTE_MS);
    assert.deepEqual(members(), ['10.0.0.1']);
    // After 0, 5, 15, 35 and 75 s, then each minute.
    assert.ok(machines.count('liar') >= 10 && machines.count('liar') <= 14, machines.asked.join());
    assert.deepEqual(rig.reasons('liar'), ['BackEndUnconfirmed']);
    const observed = rig.observed('web').map(({ text }) => text);
    assert.ok(observed.some((text) => text.includes('has not confirmed the machine of the node liar')));
    machines.has('liar', '10.0.0.7');
    rig.api.nodes.put(nodeAt('liar', '10.9.9.9', '10.0.0.7'));
    await rig.clock.advance(2 * MINUTE_MS);
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.7']);
    rig.api.nodes.put(nodeAt('liar', '10.0.0.7'));
    const before = machines.count('liar');
    await rig.clock.advance(10 * MINUTE_MS);
    assert.equal(machines.count('liar'), before, 'nobody asks any more');
    await rig.stop();
  });
}

test('a cloud that fails once does not make a member of a node of which it has said that it has no machine', async () => {
  const { machines, members, rig } = await joined(ABSENT);
  await rig.clock.advance(10 * MINUTE_MS);
  machines.says.set('liar', failed('unavailable'));
  await rig.clock.advance(MINUTE_MS);
  machines.says.set('liar', ABSENT);
  await rig.clock.advance(60 * MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1']);
  assert.ok(rig.reasons('liar').length <= 4, 'told once in half an hour');
  await rig.stop();
});

test('a node that joins while the cloud fails is a member, and is asked about until the cloud says what it is', async () => {
  const { machines, members, rig } = await joined(failed('unavailable'));
  await rig.clock.advance(10_000);
  assert.deepEqual(members(), ['10.0.0.1', '10.9.9.9']);
  machines.says.set('liar', ABSENT);
  await rig.clock.advance(2 * MINUTE_MS);
  // It stays what it is: it may serve. What its kubelet says from now on does not count.
  rig.api.nodes.put(nodeAt('liar', '10.6.6.6'));
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081, protocol: 'TCP' }] });
  await rig.clock.advance(MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1', '10.9.9.9']);
  machines.has('liar', '10.6.6.6');
  await rig.clock.advance(2 * MINUTE_MS);
  rig.api.apply('web', webSpec);
  await rig.clock.advance(MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1', '10.6.6.6']);
  await rig.stop();
});

test('a machine that is new, and that lists do not show yet, is a member within seconds of its being shown', async () => {
  const { machines, members, rig } = await openRig();
  machines.has('n1', '10.0.0.1');
  await rig.start({}, { machines });
  rig.api.nodes.put(nodeAt('n2', '10.0.0.2'));
  await rig.clock.advance(4_000);
  machines.has('n2', '10.0.0.2');
  await rig.clock.advance(5_000);
  assert.deepEqual(members(), ['10.0.0.1', '10.0.0.2']);
  assert.deepEqual(rig.reasons('n2'), []);
  await rig.stop();
});

for (const how of ['gone', 'excluded'] as const) {
  test(`nobody asks about a node that is ${how}, and nobody is told of it`, async () => {
    const { machines, rig } = await joined(ABSENT);
    await rig.clock.advance(1_000);
    if (how === 'gone') rig.api.nodes.remove('liar');
    else rig.api.nodes.put(nodeOf('liar', { metadata: { labels: { [excludeLabel]: '' } } }));
    const before = machines.count('liar');
    await rig.clock.advance(10 * MINUTE_MS);
    assert.equal(machines.count('liar'), before);
    assert.deepEqual(rig.reasons('liar'), []);
    await rig.stop();
  });
}

test('who ends while the cloud is asked for the first time hears of nodes no more', async () => {
  const { machines, rig } = await openRig();
  machines.before = () => new Promise(() => {});
  let listeners = 0;
  const { store } = rig.api.nodes;
  const subscribe = store.subscribe.bind(store);
  store.subscribe = (listener) => {
    listeners += 1;
    const stop = subscribe(listener);
    return () => {
      listeners -= 1;
      stop();
    };
  };
  await rig.start({}, { machines });
  await rig.clock.advance(1_000);
  await rig.stop();
  assert.equal(listeners, 0);
});

test('lists that lose machines take no member away, and have nobody asked', async () => {
  const { machines, members, rig } = await openRig();
  rig.api.nodes.put(nodeAt('n1', '10.0.0.1'));
  machines.has('n1', '10.0.0.1');
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  machines.stored.set('uid-n1', { kind: 'missing' });
  rig.api.nodes.put(nodeAt('n1', '10.0.0.1', '10.0.0.67'));
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081, protocol: 'TCP' }] });
  await rig.clock.advance(5 * MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1'], 'and what its status says meanwhile does not count');
  assert.equal(machines.count('n1'), 1);
  await rig.stop();
});

for (const last of ['missing', 'failed', 'none'] as const) {
  test(`a label of a member is followed although the last answer of the cloud is ${last}`, async () => {
    const { machines, members, rig } = await openRig();
    const status = { addresses: addresses('10.0.0.2') };
    rig.api.nodes.put(nodeOf('n2', { status }));
    for (const [name, address] of [
      ['n1', '10.0.0.1'],
      ['n2', '10.0.0.2'],
    ] as const)
      machines.has(name, address);
    rig.provider.selectBackEnds = (_service, all) => all.filter(({ node }) => node.labels['pool'] !== 'drain');
    await rig.start({}, { machines });
    await rig.clock.advance(5_000);
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.2']);
    if (last === 'none') machines.stored.delete('uid-n2');
    else machines.stored.set('uid-n2', last === 'missing' ? { kind: 'missing' } : failed('unavailable'));
    rig.api.nodes.put(nodeOf('n2', { metadata: { labels: { pool: 'drain' } }, status }));
    await rig.clock.advance(MINUTE_MS);
    assert.deepEqual(members(), ['10.0.0.1']);
    await rig.stop();
  });
}

test('where nobody else asks, a node that gets another address gets it as a member when the cloud has it', async () => {
  const { machines, members, rig } = await openRig();
  machines.has('n1', '10.0.0.1');
  machines.has('n2', '10.0.0.2');
  await rig.start({}, { machines });
  rig.api.nodes.put(nodeAt('n2', '10.0.0.2'));
  await rig.clock.advance(10_000);
  rig.api.nodes.put(nodeAt('n2', '10.0.0.3'));
  machines.has('n2', '10.0.0.3');
  await rig.clock.advance(MINUTE_MS);
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081, protocol: 'TCP' }] });
  await rig.clock.advance(MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1', '10.0.0.3']);
  assert.equal(machines.count('n2'), 2);
  await rig.stop();
});

test('at the start, a node counts of which the cloud only lists no machine; one that is proved to have none does not, nor one whose ID is none', async () => {
  const { machines, members, rig } = await openRig();
  for (let i = 2; i <= 30; i++) {
    rig.api.nodes.put(nodeAt(`n${i}`, `10.0.0.${i}`));
    if (i > 4) machines.has(`n${i}`, `10.0.0.${i}`);
  }
  machines.has('n1', '10.0.0.1');
  machines.says.set('n2', ABSENT);
  machines.says.set('n4', failed('invalid'));
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  assert.ok(!members().includes('10.0.0.2'));
  assert.ok(members().includes('10.0.0.3'));
  assert.ok(!members().includes('10.0.0.4'));
  assert.deepEqual(
    machines.asked.filter((one) => one.endsWith('directly')),
    ['n2 directly', 'n3 directly'],
  );
  await rig.stop();
});

test('at the start, a cloud that has lost many machines takes no member away, and is asked about none of them directly', async () => {
  const { machines, members, rig } = await openRig();
  for (let i = 2; i <= 20; i++) {
    rig.api.nodes.put(nodeAt(`n${i}`, `10.0.0.${i}`));
    if (i > 4) machines.has(`n${i}`, `10.0.0.${i}`);
    else machines.says.set(`n${i}`, ABSENT);
  }
  machines.has('n1', '10.0.0.1');
  await rig.start({}, { machines });
  await rig.clock.advance(MINUTE_MS);
  assert.equal(members().length, 20);
  assert.ok(!machines.asked.some((one) => one.endsWith('directly')));
  await rig.stop();
});

test('at the start, the only node stays a member, whatever the cloud says; nodes of nobody make no cloud credible', async () => {
  for (const foreign of [0, 99]) {
    const { machines, members, rig } = await openRig();
    Object.assign(rig.provider, { takesForeignNodes: true });
    for (let i = 1; i <= foreign; i++) {
      rig.api.nodes.put({ ...nodeAt(`f${i}`, `10.1.0.${i}`), spec: { providerID: `other://${i}` } });
    }
    machines.says.set('n1', ABSENT);
    await rig.start({}, { machines });
    await rig.clock.advance(MINUTE_MS);
    assert.ok(members().includes('10.0.0.1'));
    await rig.stop();
  }
});
