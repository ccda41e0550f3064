/** What Octavia of Zed does to children, and how it is got over. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type LoadBalancerPlan } from '@outrigger/cloud-provider';
import { portOf } from './desired/tree-inputs.suite.ts';
import type { WirePool } from './octavia-wire.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

async function all<T>(rig: Rig, kind: string): Promise<readonly T[]> {
  const entries = Object.entries(await rig.everything());
  return entries.flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as T] : []));
}

test('children that no change takes along are deleted and made again, one by one', async () => {
  const rig = await Rig.open();
  rig.cloud.octavia.settings.childrenLateMs = Number.POSITIVE_INFINITY;
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  // Pools stay as they are, whatever is sent to them; their members are not reached by that.
  const when = ({ path }: { readonly path: string }): boolean => !path.endsWith('/members');
  rig.cloud.faults.set({ effect: 'status', status: 409, service: 'load-balancer', operation: 'PUT /pools', when });
  let plan: LoadBalancerPlan | undefined;
  let before: readonly WirePool[] = [];
  const began = rig.clock.monotonic();
  while (!plan?.complete && rig.clock.monotonic() - began < 300_000) {
    try {
      plan = await rig.pass(rig.desired(web));
    } catch (error) {
      if (!isCloudError(error, 'conflict')) throw error;
    }
    if (before.length === 0) before = await all(rig, 'pools');
    await rig.clock.sleep(2_000);
  }
  assert.ok(plan?.complete && plan.ingress.length > 0);
  const after = await all<WirePool>(rig, 'pools');
  assert.deepEqual([before.length, after.length], [2, 2]);
  for (const { id } of before) assert.ok(!after.some((one) => one.id === id), 'another one in its place');
  for (const pool of after) assert.deepEqual([pool.members.length, pool.provisioning_status], [2, 'ACTIVE']);
});

test('two nodes with one address are one member: Octavia would take both, and never be ready again', async () => {
  const rig = await Rig.open();
  const [node] = rig.backEnds;
  assert.ok(node);
  rig.backEnds = [...rig.backEnds, { ...node, node: { ...node.node, name: 'replaced', uid: 'replaced' } }];
  const web = serviceNamed('web');
  assert.ok((await rig.bring(web)).complete);
  for (const pool of await all<WirePool>(rig, 'pools')) assert.equal(pool.members.length, 2);
  rig.backEnds = rig.backEnds.toReversed();
  rig.cloud.calls.reset();
  assert.ok((await rig.bring(web)).complete);
  assert.ok(
    rig.cloud.calls.all().every(({ operation }) => operation.startsWith('GET')),
    'the order of nodes is no change',
  );
});

test('a 409 is waited for on the load balancer’s status and sent once more; one that stays is told', async () => {
  const rig = await Rig.open();
  rig.cloud.octavia.settings.updateMs = 3_000;
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  const [loadBalancer] = await all<WirePool>(rig, 'loadbalancers');
  assert.ok(loadBalancer);
  const meddle = (): void => {
    const found = rig.cloud.octavia.store.loadBalancers.get(loadBalancer.id);
    if (found) rig.cloud.octavia.provisioning.begin({ loadBalancer: found, durationMs: 3_000 });
  };
  rig.cloud.faults.set({ effect: 'run', service: 'load-balancer', operation: 'PUT /pools', times: 1, run: meddle });
  const before = rig.clock.monotonic();
  await rig.pass(rig.desired(served(web, plan)));
  assert.ok(rig.clock.monotonic() - before >= 3_000, 'until the other change is over');
  assert.ok((await rig.bring(served(web, plan))).complete);

  rig.backEnds = rig.backEnds.slice(1);
  rig.cloud.faults.set({ effect: 'status', status: 409, service: 'load-balancer', operation: 'PUT /pools' });
  rig.cloud.calls.reset();
  await assert.rejects(rig.pass(rig.desired(served(web, plan))), (error) => isCloudError(error, 'conflict'));
  assert.equal(rig.cloud.calls.counts()['load-balancer PUT /pools/{pool}/members'], 2);
});

test('what somebody has deleted since it was planned is deleted', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web', { ports: [portOf(80), portOf(443)] });
  const plan = await rig.bring(web);
  const less = { ...served(web, plan), ports: [portOf(80)] };
  const planned = rig.provider.plan(rig.desired(less), await rig.look(less));
  const other = await rig.restarted();
  await other.bring(less);
  assert.ok(planned.actions.length >= 2);
  for (const action of planned.actions) await rig.provider.apply(action, rig.desired(less), callContext());
  assert.ok((await rig.bring(less)).complete);
});
