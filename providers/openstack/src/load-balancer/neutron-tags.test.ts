/** Neutron takes no tags when a part is made: what a program leaves that dies before it has written them, and a Neutron that refuses them. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { FaultEffect, FaultRule } from '../../fake/fault-rules.ts';
import { neutronTags } from './ownership.ts';
import { annotated } from './desired/tree-inputs.suite.ts';
import { callContext, goneService, Rig, served, serviceNamed } from './rig.suite.ts';

const web = serviceNamed('web');
const ownTags = neutronTags({ clusterId: 'cluster-1', uid: web.uid }).toSorted();

const COLLECTIONS = ['floatingips', 'security-groups'] as const;
type Collection = (typeof COLLECTIONS)[number];

const onTags = (collection: Collection, effect: FaultEffect): FaultRule => ({
  service: 'network',
  operation: `PUT /${collection}/{id}/tags`,
  ...effect,
});

interface Tagged {
  readonly id: string;
  readonly name?: string;
  readonly tags: readonly string[];
}

/** Those that were made for Services. */
async function partsIn(rig: Rig, collection: Collection): Promise<readonly Tagged[]> {
  const all = Object.entries(await rig.everything());
  const parts = all.flatMap(([key, one]) => (key.startsWith(`${collection} `) ? [one as Tagged] : []));
  return parts.filter(({ name }) => name !== 'default');
}

const tagsIn = async (rig: Rig, collection: Collection): Promise<readonly (readonly string[])[]> =>
  (await partsIn(rig, collection)).map(({ tags }) => tags.toSorted());

async function tag(rig: Rig, collection: Collection, id: string, tags: readonly string[]): Promise<void> {
  const path = `/v2.0/${collection}/${id}/tags`;
  await rig.client.request(callContext(), { service: 'network', operation: 'x', method: 'PUT', path, body: { tags } });
}

for (const collection of COLLECTIONS) {
  test(`a program dies before the tags of ${collection}: the next one writes them, and then nothing more`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    rig.cloud.faults.set(onTags(collection, { effect: 'refused' }));
    await assert.rejects(rig.bring(web));
    rig.cloud.faults.set();
    assert.deepEqual(await tagsIn(rig, collection), [[]]);
    const next = await rig.restarted();
    const plan = await next.bring(web);
    for (const one of COLLECTIONS) assert.deepEqual(await tagsIn(next, one), [ownTags], one);
    assert.ok((await next.pass(next.desired(served(web, plan)))).complete);
  });

  test(`what others have written on ${collection} stays, and what a former owner has goes`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const plan = await rig.bring(web);
    const [part] = await partsIn(rig, collection);
    assert.ok(part);
    const former = neutronTags({ clusterId: 'cluster-1', uid: 'somebody-else' });
    await tag(rig, collection, part.id, ['team-a', ...former]);
    await rig.bring(served(web, plan));
    assert.deepEqual(await tagsIn(rig, collection), [[...ownTags, 'team-a'].toSorted()]);
  });

  test(`where Neutron refuses the tags of ${collection} the Service is served, and it is not asked again at once`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    rig.cloud.faults.set(onTags(collection, { effect: 'status', status: 403 }));
    const plan = await rig.bring(web);
    assert.ok(plan.complete && plan.ingress.length === 1);
    assert.deepEqual(await tagsIn(rig, collection), [[]]);
    const asked = (): number =>
      rig.cloud.calls.all().filter(({ operation }) => operation.startsWith('PUT') && operation.endsWith('/tags'))
        .length;
    const before = asked();
    assert.ok((await rig.pass(rig.desired(served(web, plan)))).complete);
    assert.equal(asked(), before);
    rig.cloud.faults.set();
    await rig.clock.sleep(600_000);
    await rig.bring(served(web, plan));
    assert.deepEqual(await tagsIn(rig, collection), [ownTags]);
  });

  for (const status of [200, 404, 405, 409, 500]) {
    test(`whatever a Neutron answers that never has tags of ${collection}, the Service is served: ${status}`, async () => {
      const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
      rig.cloud.faults.set(onTags(collection, { effect: 'status', status }));
      // What is no refusal may have been an accident: it is told, and the next pass goes on.
      const plan = await rig.bring(web).catch(() => rig.bring(web));
      assert.ok(plan.complete && plan.ingress.length === 1);
      assert.deepEqual(await tagsIn(rig, collection), [[]]);
    });
  }
}

const keeping = serviceNamed('web', { annotations: annotated({ keepFloatingIP: 'true' }) });

/** Each in its own way: free, and of no owner. */
async function assertKept(rig: Rig): Promise<void> {
  const [one, ...more] = (await partsIn(rig, 'floatingips')) as readonly (Tagged & {
    readonly description: string;
    readonly port_id: string | null;
  })[];
  assert.ok(one && more.length === 0, 'it is there');
  assert.ok(one.port_id === null && !one.description.includes('outrigger') && one.tags.length === 0, one.description);
}

for (const effect of ['refused', 'lost'] as const) {
  for (let nth = 1; nth <= 3; nth++) {
    test(`an address that is to be kept stays, whenever the program dies that gives it up: ${effect}, ${nth}`, async () => {
      const rig = await Rig.open();
      await rig.bring(keeping);
      const isWrite = ({ method }: { readonly method: string }): boolean => method !== 'GET';
      rig.cloud.faults.set({ nth, when: isWrite, effect });
      // Its Service is gone by force: what is to be kept stands on the floating IP alone.
      await assert.rejects(rig.bring(goneService(keeping), false));
      rig.cloud.faults.set();
      const next = await rig.restarted();
      assert.ok((await next.bring(goneService(keeping), false)).complete);
      await assertKept(next);
    });
  }
}

for (const status of [403, 404]) {
  test(`an address that is to be kept is given up by a Neutron that has no tags of it: ${status}`, async () => {
    const rig = await Rig.open();
    rig.cloud.faults.set({
      service: 'network',
      when: ({ path }) => path.endsWith('/tags'),
      effect: 'status',
      status,
    });
    await rig.bring(keeping).catch(() => rig.bring(keeping));
    assert.ok((await rig.bring(goneService(keeping), false)).complete);
    await assertKept(rig);
  });
}
