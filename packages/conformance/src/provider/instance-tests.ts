/** What `Instances` promises. Over 400 lines: one test for each promise, side by side. */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import { isIP } from 'node:net';
import {
  isCloudError,
  PROVIDER_ID_LENGTH,
  type Instance,
  type InstanceAnswer,
  type NodeRef,
} from '@outrigger/cloud-provider';
import { withDeadline } from '@outrigger/kube';
import { FAILURES, STATUSES } from './cloud-failures.ts';
import { has, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import { wordsOf, type ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/instances.ts';
const HOST = 'docs/reference/what-the-host-does.md#machines';
const GUIDE = 'docs/guides/write-a-provider/2-absence.md#four-answers';
const BATCH = 20;
/** What is said of an ID, whatever the cloud is able to answer. */
const BY_THE_ID = ['invalid', 'conflict', 'implemented-elsewhere', 'unsupported'] as const;
const HINTS_END_MS = 2_000;
const ANNOTATION_KEY = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?\/)?[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
const ANNOTATION_LENGTH = 255;
/** Of Kubernetes: `node.kubernetes.io/…` too. */
const RESERVED = /^([^/]*\.)?(kubernetes|k8s)\.io\//;
const LABEL_VALUE = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;

function promise(
  name: string,
  source: string,
  run: ConformanceTest['run'],
  more: Pick<ConformanceTest, 'hooks' | 'declares'> = {},
): ConformanceTest {
  return { name: `instances / ${name}`, feature: 'instances', source, declares: has('instances'), run, ...more };
}

export const instanceTests: readonly ConformanceTest[] = [
  promise(
    'a machine is found by the name of its node, then by its provider ID',
    `${TYPES} Instances.lookUp`,
    async (rig) => {
      const node = await rig.createMachine('one');
      const byName = await rig.instanceOf(node);
      assert.ok(
        byName.providerID.startsWith(`${rig.opened.name}://`),
        `${byName.providerID} begins with the provider's name`,
      );
      const known = { ...node, providerID: byName.providerID };
      const byID = foundIn(await answerOf(rig, known));
      const read = foundIn(await rig.read(known));
      assert.equal(byID.providerID, byName.providerID);
      assert.equal(read.providerID, byName.providerID);
      // By its ID, whatever the node is called.
      const renamed = foundIn(await answerOf(rig, { ...known, name: `other-${randomUUID().slice(0, 8)}` }));
      assert.equal(renamed.providerID, byName.providerID);
    },
  ),

  promise(
    'metadata: type, zone and region are label values, addresses are addresses',
    `${TYPES} Instance`,
    async (rig) => {
      const { addresses = [], labels = {}, region, type, zone } = await rig.instanceOf(await rig.createMachine('meta'));
      for (const [what, value] of Object.entries({ region, type, zone, ...labels })) {
        assert.ok(value !== undefined && LABEL_VALUE.test(value), `${what} ${JSON.stringify(value)} is a label value`);
      }
      assert.ok(addresses.length > 0, 'a running machine has an address');
      for (const { address, type } of addresses) {
        assert.ok(
          address !== '' && (!type.endsWith('IP') || isIP(address) > 0),
          `${address} is an address of type ${type}`,
        );
      }
      const all = addresses.map(({ address, type }) => `${type} ${address}`);
      assert.equal(new Set(all).size, all.length, 'no address twice');
    },
  ),

  promise('the name of a machine, where one is given, finds its node', `${TYPES} Instance.name`, async (rig) => {
    for (const node of [await rig.createMachine('called'), await rig.createMachine('other')]) {
      const { name, providerID } = await rig.instanceOf(node);
      if (name === undefined) continue;
      const nameless = { ...withoutID(node), name: name.toLowerCase(), uid: randomUUID() };
      assert.equal(foundIn(await answerOf(rig, nameless)).providerID, providerID, `by the name ${name}`);
    }
  }),

  promise(
    'annotations are ones that a node can have, and the same each time',
    `${TYPES} Instance.annotations`,
    async (rig) => {
      const node = await rig.createNode('noted');
      const { annotations = {} } = await rig.instanceOf(node);
      for (const [key, value] of Object.entries(annotations)) {
        assert.ok(ANNOTATION_KEY.test(key), `${key} is a key of an annotation`);
        assert.ok(!RESERVED.test(key), `${key} is Kubernetes' own, and ignored`);
        assert.ok(value.length <= ANNOTATION_LENGTH, `${key} has ${value.length} characters, and is ignored`);
      }
      // What differs would be written again and again.
      const kept = { ...node, annotations };
      assert.deepEqual((await rig.instanceOf(kept)).annotations ?? {}, annotations);
      await rig.restart();
      assert.deepEqual((await rig.instanceOf(kept)).annotations ?? {}, annotations);
    },
  ),

  promise(
    'maintenance is told of its machine alone, and no longer when it is over',
    `${TYPES} Instance.maintenance`,
    async (rig) => {
      const [node, other] = [await rig.createNode('kept-up'), await rig.createNode('other')];
      const told = async (): Promise<readonly (string | undefined)[]> =>
        (await rig.lookUp(node, other)).map((answer) => foundIn(answer).maintenance?.state);
      for (const state of ['planned', 'in-progress', undefined] as const) {
        await rig.fixture.setMaintenance?.(node, state);
        await rig.wait(rig.fixture.clock ? 1_000 : 0);
        assert.deepEqual(await told(), [state, undefined]);
      }
    },
    { hooks: ['setMaintenance'] },
  ),

  promise('state and metadata give the same provider ID and state', `${TYPES} InstanceNeed`, async (rig) => {
    const node = await rig.createMachine('needs');
    const full = await rig.instanceOf(node);
    const instances = rig.use('instances');
    const [answer] = await rig.call('lookUp', (call) => instances.lookUp([node], 'state', call));
    const { providerID, state } = foundIn(answer);
    assert.deepEqual({ providerID, state }, { providerID: full.providerID, state: full.state });
  }),

  promise(
    'a provider ID belongs to one machine, and stays the same over stops and restarts',
    `${TYPES} Instance.providerID`,
    async (rig) => {
      const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
      assert.notEqual(a.providerID, b.providerID);
      const machines = [a, b].map(({ providerID = '' }) => rig.use('instances').machineOf?.(providerID) ?? providerID);
      assert.notEqual(machines[0], machines[1]);
      assert.ok((a.providerID ?? '').length <= PROVIDER_ID_LENGTH);
      await rig.fixture.stopMachine(a);
      assert.equal(foundIn(await rig.read(a)).providerID, a.providerID);
      await rig.restart();
      assert.equal(foundIn(await answerOf(rig, { ...a, providerID: undefined })).providerID, a.providerID);
    },
  ),

  promise('answers come in the order of the question, one for each node', `${TYPES} Instances.lookUp`, async (rig) => {
    const nodes: NodeRef[] = [];
    for (const name of ['c', 'a', 'b']) nodes.push(await rig.createNode(name));
    const [c, a, b] = nodes as [NodeRef, NodeRef, NodeRef];
    const unknown = { ...withoutID(c), name: `nobody-${randomUUID().slice(0, 8)}`, uid: randomUUID() };
    const asked = [b, unknown, withoutID(c), a];
    const answers = await rig.lookUp(...asked);
    assert.equal(answers.length, asked.length);
    assert.deepEqual(
      answers.map(({ result }) => (result.kind === 'found' ? result.instance.providerID : result.kind)),
      [b.providerID, 'missing', c.providerID, a.providerID],
    );
    assert.deepEqual(await rig.lookUp(), []);
  }),

  promise('the name of a node is compared as a whole', `${TYPES} Instances.lookUp`, async (rig) => {
    const node = await rig.createMachine('web');
    const there = await rig.fixture.listMachines();
    for (const name of [
      node.name.slice(0, -1),
      node.name.slice(1),
      `${node.name}1`,
      node.name.replace(/[a-z0-9]$/u, '.'),
    ]) {
      if (there.includes(name)) continue;
      const answer = await answerOf(rig, { ...node, name, uid: randomUUID() });
      assert.notEqual(answer.result.kind, 'found', `${name} is not ${node.name}`);
    }
  }),

  promise(
    'a whole batch costs as many requests as are declared',
    `${TYPES} Instances.batchSize`,
    async (rig) => {
      const most = rig.fixture.requestsOf?.lookUp;
      if (most === undefined) throw new NotVerifiable('the fixture does not say requestsOf.lookUp');
      const nodes = await Promise.all(Array.from({ length: BATCH }, (_, i) => rig.createMachine(`n${i}`)));
      // Tokens and versions are asked for once.
      await rig.lookUp(...nodes.slice(0, 1));
      rig.faults.set();
      await rig.lookUp(...nodes);
      assert.equal(rig.faults.count('lookUp'), most, `requests for ${BATCH} nodes`);
    },
    { hooks: ['requestsOf'] },
  ),

  promise('a machine that is gone is missing or absent, and a direct read proves it', HOST, async (rig) => {
    const node = await rig.createNode('gone');
    await rig.deleteMachine(node);
    const answer = await answerOf(rig, node);
    assert.ok(['missing', 'absent'].includes(answer.result.kind), `${wordsOf(answer)}: it is gone`);
    const { result } = await rig.read(node);
    assert.ok(
      result.kind === 'absent',
      `a direct read says ${result.kind} of a machine that is gone, and its node stays for ever`,
    );
    assert.ok(result.proof !== '', 'the proof names the call and the answer');
  }),

  promise('without a provider ID nothing is absent', GUIDE, async (rig) => {
    const node = await rig.createNode('nameless');
    await rig.deleteMachine(node);
    const nameless = withoutID(node);
    assert.notEqual((await rig.read(nameless)).result.kind, 'absent', 'a search by name proves nothing');
    assert.notEqual((await answerOf(rig, nameless)).result.kind, 'absent');
  }),

  promise('a stopped machine is there, and shut down', HOST, async (rig) => {
    const node = await rig.createNode('off');
    assert.equal(foundIn(await rig.read(node)).state, 'running');
    await rig.fixture.stopMachine(node);
    assert.equal(foundIn(await rig.read(node)).state, 'shutdown');
    assert.equal(foundIn(await answerOf(rig, node)).state, 'shutdown');
  }),

  promise("another provider's ID is never found and never absent", GUIDE, async (rig) => {
    const node = await rig.createMachine('own');
    const own = (await rig.instanceOf(node)).providerID;
    const rest = own.slice(own.indexOf('://'));
    for (const providerID of ['another://region/own', `another${rest}`, `${rig.opened.name}2${rest}`]) {
      const foreign = { ...node, providerID };
      const kinds = [(await answerOf(rig, foreign)).result.kind, await kindOfRead(rig, foreign)];
      for (const kind of kinds) assert.ok(kind === 'missing' || kind === 'failed', `${providerID} is ${kind}`);
    }
  }),

  promise(
    'a broken provider ID is found nowhere, is no failure of the cloud, and harms no other of its batch',
    'docs/reference/what-the-host-does.md#texts',
    async (rig) => {
      const node = await rig.createNode('beside');
      const { name } = rig.opened;
      const own = (node.providerID ?? '').replace(/^.*?:\/\//, '');
      const folder = own.slice(0, own.lastIndexOf('/') + 1);
      for (const rest of [
        // What another path of the cloud's API may answer.
        ...['.', '..', '%2e%2e', 'detail'].map((last) => folder + last),
        '',
        '/',
        '///',
        '../../',
        '%2e%2e/%2e%2e',
        "x' OR '1'='1",
        'x?y=z#w',
        '\u{1F4A5}',
        'y'.repeat(900),
      ]) {
        const broken = { ...node, name: 'broken', uid: randomUUID(), providerID: `${name}://${rest}` };
        const answers = await rig.lookUp(broken, node);
        assert.notEqual(answers[0]?.result.kind, 'found', `${JSON.stringify(rest)} is no machine`);
        assert.equal(answers[1]?.result.kind, 'found', `beside ${JSON.stringify(rest)}, a good one is found`);
        const read = await rig.read(broken).then(
          ({ result }) => result,
          (error: unknown) => ({ kind: 'failed', error }) as const,
        );
        assert.notEqual(read.kind, 'found');
        // A kubelet that makes up an ID may not have its own word for its address by that, as where the cloud cannot be asked.
        for (const one of [answers[0]?.result, read]) {
          if (one?.kind !== 'failed') continue;
          const isAnswer = BY_THE_ID.some((code) => isCloudError(one.error, code));
          assert.ok(isAnswer, `${JSON.stringify(rest)} is none by its form: ${String(one.error)}`);
        }
      }
    },
  ),

  promise('a request that fails makes no machine missing or absent', HOST, async (rig) => {
    const node = await rig.createNode('alive');
    for (const code of FAILURES) {
      rig.faults.set(() => ({ kind: 'fail', code }));
      const kinds = [await kindOfLookUp(rig, node), await kindOfRead(rig, node)];
      rig.faults.set();
      assert.deepEqual(kinds, ['failed', 'failed'], `while requests end as ${code}`);
    }
    await rig.recovers('the machine is found', async () => (await kindOfLookUp(rig, node)) === 'found');
  }),

  promise('a part of a list is never taken for all of it', 'docs/principles.md#the-contract', async (rig) => {
    const nodes = await Promise.all(Array.from({ length: BATCH }, (_, i) => rig.createMachine(`p${i}`)));
    await rig.lookUp(...nodes);
    rig.faults.set();
    await rig.lookUp(...nodes);
    const requests = rig.faults.count('lookUp');
    for (let nth = 1; nth <= requests; nth++) {
      rig.faults.set((sent) => (sent.nth === nth ? { kind: 'fail', code: 'unavailable' } : undefined));
      const answers = await rig.lookUp(...nodes).catch(thrownAsCloudError);
      rig.faults.set();
      const wrong = answers?.find(({ result }) => result.kind === 'missing' || result.kind === 'absent');
      assert.equal(
        wrong,
        undefined,
        `request ${nth} of ${requests} failed, and a machine that is there was ${wordsOf(wrong)}`,
      );
    }
  }),

  promise(
    'no status of the cloud, nor of a proxy before it, makes a machine absent',
    HOST,
    async (rig) => {
      const node = await rig.createNode('alive');
      for (const status of STATUSES) {
        await rig.fail({ kind: 'status', status });
        // After a 429, the next request waits.
        const kinds: string[] = [];
        for (const ask of [kindOfLookUp, kindOfRead]) {
          await rig.wait(rig.fixture.clock ? 30_000 : 0);
          kinds.push(await ask(rig, node));
        }
        await rig.fail(undefined);
        await rig.wait(rig.fixture.clock ? 30_000 : 0);
        assert.ok(!kinds.includes('absent'), `after ${status}: ${kinds.join(', ')}`);
      }
      await rig.recovers('the machine is found', async () => (await kindOfRead(rig, node)) === 'found');
    },
    { hooks: ['fail'] },
  ),

  promise(
    'a list that is empty makes no machine absent',
    GUIDE,
    async (rig) => {
      const node = await rig.createNode('alive');
      await rig.fail({ kind: 'empty' });
      const kinds = [await kindOfLookUp(rig, node), await kindOfRead(rig, node)];
      assert.ok(!kinds.includes('absent'), kinds.join(', '));
    },
    { hooks: ['fail'] },
  ),

  promise(
    'lists that lag make no new machine absent, and none that is gone found by a read',
    HOST,
    async (rig) => {
      const old = await rig.createNode('old');
      const lagMs = rig.fixture.clock ? 300_000 : 5_000;
      // So long that lists show it, and go on to.
      await rig.wait(lagMs + 1_000);
      await rig.fixture.lag?.(lagMs);
      const fresh = await rig.createMachine('fresh');
      assert.notEqual((await answerOf(rig, fresh)).result.kind, 'absent');
      await rig.deleteMachine(old);
      assert.notEqual((await rig.read(old)).result.kind, 'found', 'a direct read is never from a list');
    },
    { hooks: ['lag'] },
  ),

  promise('a read is sent to the cloud each time', `${TYPES} Instances.read`, async (rig) => {
    const node = await rig.createNode('again');
    await rig.read(node);
    rig.faults.set();
    const before = rig.clock.monotonic();
    const { asOf = before } = await rig.read(node);
    assert.ok(rig.faults.count('read') > 0, 'no request was sent: it was answered from memory');
    assert.ok(asOf >= before, 'what it says was known before the read began');
  }),

  promise('asOf is a time of the host that has passed', `${TYPES} InstanceAnswer.asOf`, async (rig) => {
    const node = await rig.createNode('when');
    for (let round = 0; round < 3; round++) {
      const answers = [await answerOf(rig, node), await rig.read(node)];
      for (const { asOf } of answers) assert.ok(asOf === undefined || (asOf >= 0 && asOf <= rig.clock.monotonic()));
      await rig.wait(rig.fixture.clock ? 60_000 : 10);
    }
    // From a cache, it is the time of the request behind it.
    const before = rig.clock.monotonic();
    rig.faults.set();
    const [{ asOf } = { asOf: undefined }] = await rig.lookUp(node);
    if (rig.faults.count('lookUp') === 0)
      assert.ok(asOf !== undefined && asOf <= before, 'an answer from a cache says so');
  }),

  promise('place is one text for all machines and over restarts', `${TYPES} InstanceAnswer.place`, async (rig) => {
    const [a, b] = [await rig.createNode('a'), await rig.createNode('b')];
    const places = (await rig.lookUp(a, b)).map(({ place }) => place);
    places.push((await rig.read(a)).place);
    await rig.restart();
    places.push((await answerOf(rig, b)).place);
    const said = new Set(places.filter((place) => place !== undefined));
    if (said.size === 0)
      throw new NotVerifiable('the provider says no place: nodes whose machines all go at once stay');
    assert.ok(said.size === 1 && !said.has(''), `several places: ${[...said].join(', ')}`);
  }),

  promise(
    'look-ups and reads at the same time do not mix their answers',
    `${TYPES} Instances.batchSize`,
    async (rig) => {
      const nodes = await Promise.all(Array.from({ length: 6 }, (_, i) => rig.createNode(`m${i}`)));
      const ids = await Promise.all([
        ...nodes.map(async (node) => [foundIn(await rig.read(node)).providerID]),
        rig.lookUp(...nodes.slice(0, 3)).then(idsOf),
        rig.lookUp(...nodes.slice(3)).then(idsOf),
      ]);
      const expected = nodes.map(({ providerID }) => providerID);
      assert.deepEqual(ids.flat(), [...expected, ...expected]);
    },
  ),

  promise(
    'a call that is aborted ends at once, and proves nothing',
    `packages/cloud-provider/src/call-context.ts CallContext.signal`,
    async (rig) => {
      const node = await rig.createNode('slow');
      for (const member of ['lookUp', 'read'] as const) {
        const { kind, tookMs } = await aborted(rig, member, node);
        assert.equal(kind, 'failed', `${member} was aborted, and said ${kind}`);
        assert.ok(tookMs < 2_000, `${member} went on for ${tookMs} ms after it was aborted`);
      }
    },
  ),

  promise('a cloud that does not answer is no proof: the call ends at its deadline', HOST, async (rig) => {
    const node = await rig.createNode('silent');
    const instances = rig.use('instances');
    const timeoutMs = rig.fixture.clock ? 60_000 : 2_000;
    const asked = [
      () => rig.call('lookUp', async (call) => (await instances.lookUp([node], 'state', call))[0], { timeoutMs }),
      () => rig.call('read', (call) => instances.read(node, 'state', call), { timeoutMs }),
    ];
    for (const ask of asked) {
      rig.faults.set(() => ({ kind: 'hang' }));
      const kind = await ask().then(kindIn, failedOrThrow);
      rig.faults.set();
      assert.equal(kind, 'failed');
    }
    await rig.recovers('the machine is found', async () => (await kindOfRead(rig, node)) === 'found');
  }),

  promise('the host takes the answers', HOST, async (rig) => {
    const node = await rig.createMachine('host');
    await rig.instanceOf(node);
    const { lookups } = rig.opened;
    assert.ok(lookups, 'the provider has instances');
    const { signal } = new AbortController();
    const answer = await rig.drive(lookups.lookUp(node, { need: 'metadata', signal }));
    const { providerID } = foundIn(answer);
    assert.equal(
      foundIn(await rig.drive(lookups.read({ ...node, providerID }, { need: 'state', signal }))).providerID,
      providerID,
    );
  }),

  promise(
    'hints end with their call',
    `${TYPES} Instances.changes`,
    async (rig) => {
      const instances = rig.use('instances');
      const ended = new AbortController();
      const context = rig.opened.callContext({ signal: ended.signal, priority: 'background', reads: true });
      const call = rig.faults.context(context, 'changes');
      const failed = Promise.withResolvers<never>();
      const iterated = (async () => {
        try {
          for await (const _ of instances.changes?.(call) ?? []);
        } catch (error) {
          if (!ended.signal.aborted) failed.reject(error);
        }
      })();
      await Promise.race([rig.settle(), failed.promise]);
      const since = rig.clock.monotonic();
      ended.abort(new DOMException('the suite has enough', 'AbortError'));
      const limits = { clock: rig.clock, timeoutMs: HINTS_END_MS, what: 'hints that were told to end' };
      await rig.drive(withDeadline(limits, () => iterated));
      assert.ok(rig.clock.monotonic() - since < HINTS_END_MS);
    },
    { declares: { what: 'instances.changes', holds: ({ instances }) => instances?.changes !== undefined } },
  ),
];

async function answerOf(rig: ProviderRig, node: NodeRef): Promise<InstanceAnswer> {
  const [answer] = await rig.lookUp(node);
  assert.ok(answer, 'an answer for each node');
  return answer;
}

function withoutID(node: NodeRef): NodeRef {
  return { ...node, providerID: undefined };
}

function foundIn(answer: InstanceAnswer | undefined): Instance {
  assert.ok(answer?.result.kind === 'found', `${wordsOf(answer)}: a machine that is there is found`);
  return answer.result.instance;
}

function idsOf(answers: readonly InstanceAnswer[]): readonly string[] {
  return answers.map((answer) => foundIn(answer).providerID);
}

function kindIn(answer: InstanceAnswer | undefined): string {
  const { result } = answer ?? {};
  if (result?.kind === 'failed') assert.ok(result.error instanceof Error, 'failed has its error');
  return result?.kind ?? 'no answer';
}

/** A throw is `failed`; what is thrown has to be a `CloudError`, or the reason of the signal. */
function failedOrThrow(error: unknown): string {
  thrownAsCloudError(error);
  return 'failed';
}

function thrownAsCloudError(error: unknown): undefined {
  const isReason = error instanceof DOMException && ['AbortError', 'TimeoutError'].includes(error.name);
  assert.ok(isReason || isCloudError(error), `not a CloudError: ${String(error)}`);
  return undefined;
}

function kindOfLookUp(rig: ProviderRig, node: NodeRef): Promise<string> {
  return answerOf(rig, node).then(kindIn, failedOrThrow);
}

function kindOfRead(rig: ProviderRig, node: NodeRef): Promise<string> {
  return rig.read(node).then(kindIn, failedOrThrow);
}

/** Aborts a call whose request hangs: what it says, and how long it went on. */
async function aborted(
  rig: ProviderRig,
  member: 'lookUp' | 'read',
  node: NodeRef,
): Promise<{ readonly kind: string; readonly tookMs: number }> {
  const instances = rig.use('instances');
  const stop = new AbortController();
  rig.faults.set(() => ({ kind: 'hang' }));
  // Without the host's own end of the call: what is looked at is the provider.
  const context = rig.faults.context(
    rig.opened.callContext({ signal: stop.signal, priority: 'normal', reads: true }),
    member,
  );
  const asked =
    member === 'read'
      ? instances.read(node, 'state', context)
      : instances.lookUp([node], 'state', context).then(([answer]) => answer);
  const settled = asked.then(kindIn, failedOrThrow);
  await rig.until('a request is sent', () => rig.faults.hanging > 0);
  const since = rig.clock.monotonic();
  stop.abort(new DOMException('the suite gives up', 'AbortError'));
  const kind = await rig.drive(settled);
  const tookMs = rig.clock.monotonic() - since;
  rig.faults.set();
  return { kind, tookMs };
}
