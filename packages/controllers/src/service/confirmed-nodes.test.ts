import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceResult, NodeAddress } from '@outrigger/cloud-provider';
import type { Machines } from './machines.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

const MINUTE_MS = 60_000;
const addresses = (...all: readonly string[]): NodeAddress[] => all.map((address) => ({ type: 'InternalIP', address }));
const nodeAt = (name: string, ...all: readonly string[]): ReturnType<typeof nodeOf> =>
  nodeOf(name, { status: { addresses: addresses(...all) } });

/** A cloud that says of a machine what `says` has, by the name of its node, when it is asked. */
class ToldMachines implements Machines {
  readonly says = new Map<string, InstanceResult | Error>();
  /** In the order of the questions. */
  readonly asked: string[] = [];
  readonly #known = new Map<string, InstanceResult>();
  /** Before each answer. */
  before: (name: string) => Promise<void> = () => Promise.resolve();

  known: Machines['known'] = ({ metadata }) => this.#known.get(metadata?.uid ?? '');
  lookUp: Machines['lookUp'] = (node) => this.#answer(node, node.name);
  read: Machines['read'] = (node) => this.#answer(node, `${node.name} directly`);

  has(name: string, ...all: readonly string[]): void {
    this.says.set(name, {
      kind: 'found',
      instance: { providerID: `memory://r/${name}`, state: 'running', addresses: addresses(...all) },
    });
  }

  async #answer({ name, uid }: { name: string; uid: string }, question: string): Promise<InstanceResult> {
    this.asked.push(question);
    await this.before(name);
    const said = this.says.get(name) ?? { kind: 'missing' };
    if (said instanceof Error) throw said;
    this.#known.set(uid, said);
    return said;
  }
}

const ABSENT: InstanceResult = { kind: 'absent', proof: 'GET: 404' };

/** A node whose kubelet claims an address, before the program starts. Notes what becomes a member. */
async function openRig(): Promise<{ rig: Rig; machines: ToldMachines; members: () => readonly string[] }> {
  const rig = await createRig();
  rig.api.nodes.put(nodeAt('n1', '10.0.0.1', '10.0.0.66'));
  rig.api.nodes.put({ ...nodeOf('unknown'), spec: {} });
  rig.api.apply('web', webSpec);
  let last: readonly string[] = [];
  rig.provider.before = (_, { backEnds }) => {
    last = backEnds.flatMap((one) => one.addresses.map(({ address }) => address));
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
    assert.deepEqual(members(), ['10.0.0.1', '10.0.0.66', '10.0.0.2']);
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

for (const how of ['missing', 'absent'] as const) {
  test(`a node that joins with the ID of a machine that the cloud does not have (${how}) becomes a member when it has it, and is told of`, async () => {
    const { machines, members, rig } = await openRig();
    machines.has('n1', '10.0.0.1');
    await rig.start({}, { machines });
    await rig.clock.advance(5_000);
    if (how === 'absent') machines.says.set('liar', ABSENT);
    rig.api.nodes.put(nodeAt('liar', '10.9.9.9'));
    await rig.clock.advance(10 * MINUTE_MS);
    assert.deepEqual(members(), ['10.0.0.1']);
    // After 0, 5, 15, 35 and 75 s, then each minute.
    assert.ok(machines.asked.length >= 10 && machines.asked.length <= 14, machines.asked.join());
    assert.deepEqual(new Set(rig.reasons('liar')), new Set(['BackEndUnconfirmed']));
    assert.match(
      rig
        .observed('web')
        .map(({ text }) => text)
        .join('\n'),
      /The node liar does not become a back end/u,
    );
    machines.has('liar', '10.0.0.7');
    rig.api.nodes.put(nodeAt('liar', '10.9.9.9', '10.0.0.7'));
    await rig.clock.advance(2 * MINUTE_MS);
    assert.deepEqual(members().toSorted(), ['10.0.0.1', '10.0.0.7']);
    const { length } = machines.asked;
    await rig.clock.advance(10 * MINUTE_MS);
    assert.equal(machines.asked.length, length, 'nobody asks any more');
    await rig.stop();
  });
}

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

test('nobody asks about a node that is gone', async () => {
  const { machines, rig } = await openRig();
  await rig.start({}, { machines });
  rig.api.nodes.put(nodeAt('n2', '10.0.0.2'));
  await rig.clock.advance(1_000);
  rig.api.nodes.remove('n2');
  const { length } = machines.asked;
  await rig.clock.advance(10 * MINUTE_MS);
  assert.equal(machines.asked.length, length);
  await rig.stop();
});

test('lists that lose machines take no member away, and have nobody asked', async () => {
  const { machines, members, rig } = await openRig();
  machines.has('n1', '10.0.0.1');
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  machines.says.set('n1', { kind: 'missing' });
  await machines.lookUp({ name: 'n1', uid: 'uid-n1', labels: {}, annotations: {} }, new AbortController().signal);
  const { length } = machines.asked;
  rig.api.nodes.put(nodeAt('n1', '10.0.0.1', '10.0.0.67'));
  rig.api.apply('web', { ...webSpec, ports: [{ port: 81, nodePort: 30_081, protocol: 'TCP' }] });
  await rig.clock.advance(5 * MINUTE_MS);
  assert.deepEqual(members(), ['10.0.0.1'], 'and what its status says meanwhile does not count');
  assert.equal(machines.asked.length, length);
  await rig.stop();
});

test('at the start, a node counts of which the cloud only lists no machine; one that is proved to have none does not', async () => {
  const { machines, members, rig } = await openRig();
  for (let i = 2; i <= 20; i++) {
    rig.api.nodes.put(nodeAt(`n${i}`, `10.0.0.${i}`));
    if (i > 3) machines.has(`n${i}`, `10.0.0.${i}`);
  }
  machines.has('n1', '10.0.0.1');
  machines.says.set('n2', ABSENT);
  await rig.start({}, { machines });
  await rig.clock.advance(5_000);
  assert.ok(!members().includes('10.0.0.2'));
  assert.ok(members().includes('10.0.0.3'));
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
