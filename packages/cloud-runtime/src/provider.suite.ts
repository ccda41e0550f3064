/** What every provider's instances must do, whatever the cloud: one suite, a subject for each provider. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type InstanceAnswer, type Instances, type NodeRef } from '@outrigger/cloud-provider';
import type { OpenedProvider } from './open-provider.ts';

/** A provider over a cloud that the suite can change. */
export interface ProviderSubject extends AsyncDisposable {
  readonly opened: OpenedProvider;
  /** Makes a machine, and gives the node that a kubelet on it would register (no provider ID yet). */
  createInstance(name: string): Promise<NodeRef>;
  deleteInstance(name: string): Promise<void>;
  stopInstance(name: string): Promise<void>;
  /** From now on, each request of the cloud fails with this status; 0 ends it; `empty` makes lists empty. */
  fail(how: number | 'empty'): Promise<void>;
  requests(): Promise<number>;
  /** What a look-up of a whole batch with all metadata costs, connected as it is. Default: 1. */
  readonly requestsOfBatch?: number;
  /** Lets time pass on the subject's clock: after a 429, the call budget lets the next request wait. */
  pass(ms: number): Promise<void>;
}

export function providerSuite(name: string, makeSubject: () => Promise<ProviderSubject>): void {
  const signal = new AbortController().signal;
  const context = ({ opened }: ProviderSubject): ReturnType<OpenedProvider['callContext']> =>
    opened.callContext({ signal, priority: 'normal' });
  const instancesOf = ({ opened }: ProviderSubject): Instances => {
    assert.ok(opened.capabilities.instances, 'the provider has instances');
    return opened.capabilities.instances;
  };
  const kindOf = (answer: InstanceAnswer | undefined): string | undefined => answer?.result.kind;
  const withID = async (subject: ProviderSubject, node: NodeRef): Promise<NodeRef> => {
    const [answer] = await instancesOf(subject).lookUp([node], 'metadata', context(subject));
    assert.ok(answer?.result.kind === 'found');
    return { ...node, providerID: answer.result.instance.providerID };
  };

  test(`${name}: finds by name, then by provider ID, with all metadata`, async () => {
    await using subject = await makeSubject();
    const node = await subject.createInstance('one');
    const [answer] = await instancesOf(subject).lookUp([node], 'metadata', context(subject));
    assert.ok(answer?.result.kind === 'found');
    const { instance } = answer.result;
    assert.ok(instance.providerID.startsWith(`${subject.opened.name}://`));
    assert.ok(instance.addresses?.length && instance.type && instance.zone && instance.region);
    const byID = await withID(subject, { ...node, providerID: instance.providerID });
    assert.equal(byID.providerID, instance.providerID);
    assert.equal(kindOf(await instancesOf(subject).read(byID, 'state', context(subject))), 'found');
  });

  test(`${name}: answers in the order of the question, as many as were asked`, async () => {
    await using subject = await makeSubject();
    const nodes: NodeRef[] = [];
    for (const one of ['c', 'a', 'b']) nodes.push(await subject.createInstance(one));
    const unknown = { ...nodes[0]!, name: 'nobody', uid: 'nobody' };
    const answers = await instancesOf(subject).lookUp([nodes[2]!, unknown, nodes[0]!], 'state', context(subject));
    assert.deepEqual(answers.map(kindOf), ['found', 'missing', 'found']);
    const ids = answers.flatMap(({ result }) => (result.kind === 'found' ? [result.instance.providerID] : []));
    assert.ok(ids[0]?.endsWith('b') && ids[1]?.endsWith('c'));
  });

  test(`${name}: a look-up of a whole batch is as many requests as the provider says, usually one`, async () => {
    await using subject = await makeSubject();
    const nodes: NodeRef[] = [];
    for (let i = 0; i < 20; i++) nodes.push(await subject.createInstance(`n${i}`));
    // Tokens and versions are asked for once.
    await instancesOf(subject).lookUp(nodes.slice(0, 1), 'state', context(subject));
    const before = await subject.requests();
    await instancesOf(subject).lookUp(nodes, 'metadata', context(subject));
    assert.equal((await subject.requests()) - before, subject.requestsOfBatch ?? 1);
  });

  test(`${name}: a machine that is gone is missing in a list and absent by a direct read`, async () => {
    await using subject = await makeSubject();
    const node = await withID(subject, await subject.createInstance('gone'));
    await subject.deleteInstance('gone');
    const [answer] = await instancesOf(subject).lookUp([node], 'state', context(subject));
    // A look-up may have read it directly.
    assert.ok(['missing', 'absent'].includes(kindOf(answer) ?? ''));
    const read = await instancesOf(subject).read(node, 'state', context(subject));
    assert.ok(read.result.kind === 'absent' && read.result.proof !== '');
    const { providerID: _, ...nameless } = node;
    assert.notEqual(kindOf(await instancesOf(subject).read(nameless, 'state', context(subject))), 'absent');
  });

  test(`${name}: a stopped machine is shut down, not absent`, async () => {
    await using subject = await makeSubject();
    const node = await withID(subject, await subject.createInstance('off'));
    await subject.stopInstance('off');
    const read = await instancesOf(subject).read(node, 'state', context(subject));
    assert.ok(read.result.kind === 'found' && read.result.instance.state === 'shutdown');
  });

  test(`${name}: another provider's ID is never found and never absent`, async () => {
    await using subject = await makeSubject();
    const node = { ...(await subject.createInstance('own')), providerID: 'another://region/own' };
    const [answer] = await instancesOf(subject).lookUp([node], 'state', context(subject));
    assert.ok(['missing', 'failed'].includes(kindOf(answer) ?? ''));
    assert.equal(kindOf(await instancesOf(subject).read(node, 'state', context(subject))), 'missing');
  });

  test(`${name}: no failure and no empty list makes a live machine absent`, async () => {
    await using subject = await makeSubject();
    const node = await withID(subject, await subject.createInstance('alive'));
    for (const how of [400, 401, 403, 404, 409, 429, 500, 503, 504, 'empty'] as const) {
      await subject.fail(how);
      for (const ask of [
        async () => (await instancesOf(subject).lookUp([node], 'state', context(subject)))[0],
        () => instancesOf(subject).read(node, 'state', context(subject)),
      ]) {
        await subject.pass(30_000);
        const kind = await ask().then(kindOf, (error: unknown) => {
          assert.ok(isCloudError(error), `${how}: ${String(error)}`);
          return 'failed';
        });
        assert.notEqual(kind, 'absent', `after ${how}`);
      }
      await subject.fail(0);
    }
  });
}
