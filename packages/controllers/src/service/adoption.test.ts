/** Taking over what a person made: over the memory cloud, and as a plan. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import * as fc from 'fast-check';
import {
  adoptCondition,
  adoptedBy,
  adoptPatch,
  answerOf as adoptionAnswerOf,
  partNameOf,
  whyNotAdopted,
} from './adoption.ts';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { patchService } from './fake-api.suite.ts';
import { createRig, nodeOf, webSpec, type Rig } from './rig.suite.ts';

/** As `outrigger adopt` does, on the fake API. */
function ask(rig: Rig, name: string, ...parts: readonly string[]): void {
  const service = rig.api.get(name);
  assert.ok(service);
  const names = parts.map((part) => partNameOf(part)).filter((part) => part !== undefined);
  rig.api.services.put(patchService(service, adoptPatch(service, names, rig.clock.now())));
}

const requested = {
  type: adoptCondition,
  status: 'True',
  reason: 'AdoptionRequested',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

const answerOf = (rig: Rig): { readonly reason: string; readonly message: string } | undefined =>
  rig.api.get('web')?.status?.conditions?.find(({ type }) => type === adoptCondition);

test('what a person made is claimed, kept and used; its address stays', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const made = rig.cloud.createPart({ kind: 'address', tags: {}, attributes: {} });
  rig.api.apply('web', webSpec);
  ask(rig, 'web', `address/${made.id}`);
  await rig.start();
  await rig.clock.advance(5_000);
  const uid = rig.api.get('web')?.metadata?.uid ?? '';
  assert.ok(rig.partsOf(uid).some(({ id }) => id === made.id));
  assert.deepEqual(rig.partsOf(uid).filter(({ kind }) => kind === 'address').length, 1);
  assert.equal(rig.api.get('web')?.status?.loadBalancer?.ingress?.[0]?.ip, made.attributes.ip);
  assert.deepEqual([answerOf(rig)?.reason, answerOf(rig)?.message], ['Adopted', `address/${made.id}`]);
  // It is the Service's now, and goes with it; what was asked for goes too.
  rig.api.apply('web', { ...webSpec, type: 'ClusterIP' });
  await rig.clock.advance(5_000);
  assert.deepEqual(rig.cloud.parts(), []);
  assert.deepEqual(rig.api.get('web')?.status?.conditions, []);
  await rig.stop();
});

test('what belongs to another cluster is refused, told, and nothing is made', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  const theirs = rig.cloud.createPart({ kind: 'address', tags: { clusterId: 'cluster-2', uid: 'x' }, attributes: {} });
  rig.api.apply('web', webSpec);
  ask(rig, 'web', `address/${theirs.id}`);
  await rig.start();
  await rig.clock.advance(20_000);
  assert.deepEqual(
    rig.cloud.parts().map(({ id, tags }) => [id, tags]),
    [[theirs.id, { clusterId: 'cluster-2', uid: 'x' }]],
  );
  const [event] = rig.events.filter(({ reason }) => reason === 'SyncLoadBalancerFailed');
  assert.match(event?.message ?? '', /belongs to another owner.*not-owned/);
  assert.equal(answerOf(rig)?.reason, 'NotOwned');
  assert.match(answerOf(rig)?.message ?? '', /^address\/\S+ - not adopted: .*belongs to another owner/);
  // Who may read the Service, or its Events, is not told whose it is.
  assert.doesNotMatch(JSON.stringify([rig.events, rig.api.get('web')]), /cluster-2|object x/);
  // What is asked for is the same with the answer behind it: once it is nobody's, it is taken over.
  rig.cloud.updatePart(theirs.id, { tags: {} });
  await rig.clock.advance(310_000);
  assert.deepEqual([answerOf(rig)?.reason, answerOf(rig)?.message], ['Adopted', `address/${theirs.id}`]);
  await rig.stop();
});

test('what is not there is refused while the Service has nothing, and no reason to stop afterwards', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  ask(rig, 'web', 'address/nowhere');
  await rig.start();
  await rig.clock.advance(20_000);
  assert.deepEqual(rig.cloud.parts(), []);
  assert.equal(answerOf(rig)?.reason, 'NotFound');
  ask(rig, 'web');
  await rig.clock.advance(20_000);
  assert.equal(rig.cloud.parts().length, 4);
  ask(rig, 'web', 'address/nowhere');
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(20_000);
  const served = rig.cloud.parts().find(({ kind }) => kind === 'load-balancer');
  assert.deepEqual(served?.attributes.backEnds, ['memory://r/n1', 'memory://r/n2']);
  await rig.stop();
});

test('of a Service that has parts, one that the cloud does not show is answered, and nothing else is done', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(20_000);
  const before = rig.cloud.parts();
  const written = rig.provider.applied.length;
  ask(rig, 'web', 'address/nowhere');
  await rig.clock.advance(20_000);
  assert.equal(answerOf(rig)?.reason, 'NotFound');
  assert.match(
    answerOf(rig)?.message ?? '',
    /^address\/nowhere - not adopted: address nowhere .*it was not found in the cloud/,
  );
  assert.deepEqual([rig.cloud.parts(), rig.provider.applied.length], [before, written]);
  const ready = rig.api.get('web')?.status?.conditions?.find(({ type }) => type === 'LoadBalancerReady');
  assert.equal(ready?.status, 'True');
  await rig.stop();
});

test('each request is answered: for what the Service has already, too; and what was adopted may be replaced', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(20_000);
  const uid = rig.api.get('web')?.metadata?.uid ?? '';
  const own = rig.partsOf(uid).find(({ kind }) => kind === 'load-balancer');
  for (const _ of [1, 2]) {
    ask(rig, 'web', `load-balancer/${own?.id}`);
    assert.equal(answerOf(rig)?.reason, 'AdoptionRequested');
    await rig.clock.advance(20_000);
    assert.equal(answerOf(rig)?.reason, 'Adopted');
  }
  // Whatever else the Service asks for.
  rig.api.apply('web', { ...webSpec, loadBalancerSourceRanges: ['nowhere'] });
  ask(rig, 'web', `load-balancer/${own?.id}`);
  await rig.clock.advance(20_000);
  assert.ok(rig.reasons('web').includes('SyncLoadBalancerFailed'));
  assert.equal(answerOf(rig)?.reason, 'Adopted');
  rig.api.apply('web', webSpec);
  await rig.clock.advance(20_000);
  const patches = rig.api.patches.length;
  rig.cloud.deletePart(own?.id ?? '');
  rig.api.nodes.put(nodeOf('n2'));
  await rig.clock.advance(200_000);
  assert.notEqual(rig.partsOf(uid).find(({ kind }) => kind === 'load-balancer')?.id, own?.id);
  assert.equal(answerOf(rig)?.reason, 'Adopted');
  assert.ok(rig.api.patches.length - patches < 10, `${rig.api.patches.length - patches} patches`);
  await rig.stop();
});

test('what nobody owns, and the Service has no use for, is answered', async () => {
  const rig = await createRig();
  const { inner } = rig.provider;
  const observe = inner.observe.bind(inner);
  // A provider that shows it, and claims other kinds alone.
  rig.provider.plan = (desired, parts) =>
    inner.plan(
      desired,
      parts.filter(({ kind }) => kind !== 'spare'),
    );
  inner.observe = async (services, call) => {
    const looks = await observe(services, call);
    const unused = { kind: 'spare', id: 's-1', owner: undefined, state: 'ready', attributes: {} } as const;
    return looks.map((look) => (look.kind === 'parts' ? { ...look, parts: [...look.parts, unused] } : look));
  };
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  ask(rig, 'web', 'spare/s-1');
  await rig.start();
  await rig.clock.advance(20_000);
  assert.equal(answerOf(rig)?.reason, 'Refused');
  assert.match(answerOf(rig)?.message ?? '', /the Service does not need it, or the provider does not support adoption/);
  assert.equal(rig.partsOf(rig.api.get('web')?.metadata?.uid ?? '').length, 4);
  await rig.stop();
});

test('an answer never takes the place of a request that came meanwhile', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(20_000);
  ask(rig, 'web', 'address/first');
  rig.api.before = () => {
    rig.api.before = () => {};
    ask(rig, 'web', 'address/second');
  };
  await rig.clock.advance(20_000);
  assert.match(answerOf(rig)?.message ?? '', /^address\/second - not adopted: address second/);
  await rig.stop();
});

test('an answer that meets the write of another is given again, though nothing else is to be done', async () => {
  const rig = await createRig();
  rig.api.nodes.put(nodeOf('n1'));
  rig.api.apply('web', webSpec);
  await rig.start();
  await rig.clock.advance(20_000);
  // Refused as long as the Service asks for it, with no back-off.
  rig.provider.plan = () => ({
    actions: [],
    complete: false,
    ingress: [],
    refused: new CloudError('invalid', 'no such port'),
  });
  Object.assign(rig.provider, { planMembers: undefined });
  ask(rig, 'web', 'address/nowhere');
  rig.api.before = () => {
    rig.api.before = () => {};
    const service = rig.api.get('web')!;
    rig.api.services.put({ ...service, metadata: { ...service.metadata, ownerReferences: [] } });
  };
  await rig.clock.advance(60_000);
  assert.equal(answerOf(rig)?.reason, 'Refused');
  await rig.stop();
});

test('a request is answered where another controller serves the Service', () => {
  const service: Service = {
    spec: { type: 'LoadBalancer' },
    status: { conditions: [{ ...requested, message: 'address/a' }] },
  };
  const error = new CloudError('implemented-elsewhere', 'another controller holds it');
  const plan = { kind: 'nothing', reason: 'implemented-elsewhere', error } as const;
  const answer = adoptionAnswerOf(service, plan, [], { clusterId: CLUSTER, uid: 'uid-1' });
  assert.deepEqual(answer, {
    reason: 'ImplementedElsewhere',
    message: 'another controller holds it (implemented-elsewhere)',
  });
});

test('a Service that is being deleted takes nothing over', async () => {
  const service: Service = {
    metadata: { name: 'web', deletionTimestamp: '2026-01-01T00:00:00Z' },
    spec: { type: 'LoadBalancer' },
    status: {
      conditions: [{ ...requested, message: 'address/a' }],
    },
  };
  assert.deepEqual(adoptedBy(service), []);
  const { deletionTimestamp: _, ...alive } = service.metadata ?? {};
  assert.deepEqual(adoptedBy({ ...service, metadata: alive }), [{ kind: 'address', id: 'a' }]);
});

test('never is anything with another owner let through, whatever is asked for', () => {
  const owner = { clusterId: CLUSTER, uid: 'me' };
  const name = fc.record({ kind: fc.constantFrom('a', 'b'), id: fc.constantFrom('1', '2') });
  const owners = fc.constantFrom(undefined, owner, { clusterId: CLUSTER, uid: 'other' }, { clusterId: 'x', uid: 'me' });
  let refused = 0;
  let allowed = 0;
  fc.assert(
    fc.property(
      fc.array(name, { maxLength: 3 }),
      fc.uniqueArray(fc.tuple(name, owners), { selector: ([{ id, kind }]) => `${kind}/${id}`, maxLength: 4 }),
      (adopt, there) => {
        const parts = there.map(([part, of]) => ({ ...part, owner: of, state: 'ready', attributes: {} }) as const);
        const named = parts.filter((part) => adopt.some(({ id, kind }) => part.id === id && part.kind === kind));
        const foreign = named.some((part) => part.owner !== undefined && part.owner !== owner);
        const why = whyNotAdopted({ adopt }, parts, owner);
        if (why) refused += 1;
        else allowed += 1;
        if (foreign) assert.ok(why);
      },
    ),
    { numRuns: 1_000 },
  );
  assert.ok(refused > 50 && allowed > 50);
});

test('a part is named by its kind and its ID, which may have slashes', () => {
  assert.deepEqual(partNameOf('load-balancer/arn:aws:x/y'), { kind: 'load-balancer', id: 'arn:aws:x/y' });
  for (const wrong of ['', 'address', 'address/', '/a', 'a b/c']) assert.equal(partNameOf(wrong), undefined);
});
