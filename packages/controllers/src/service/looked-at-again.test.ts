/** A plan that is complete, and says when it is to be made again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type LoadBalancerPlan } from '@outrigger/cloud-provider';
import { noMetrics, type Metrics } from '@outrigger/kube';
import { readyCondition } from './well-known-names.ts';
import { actionOn, createTold, IDLE, partOf, READY, type Told } from './told-cloud.suite.ts';
import { nodeOf, webSpec } from './rig.suite.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

interface Planned extends Told {
  /** So many looks and plans. */
  looks: number;
  plans: number;
}

async function settledWith(plan: () => LoadBalancerPlan, metrics: Metrics = noMetrics): Promise<Planned> {
  const told = Object.assign(await createTold(), { looks: 0, plans: 0 });
  told.parts = [partOf('load-balancer a')];
  told.serve = () => {
    told.plans += 1;
    return plan();
  };
  const { provider } = told.rig;
  // Other nodes are none of its back ends.
  provider.selectBackEnds = (_service, all) => all.filter(({ node }) => !node.name.startsWith('other'));
  const observe = provider.observe.bind(provider);
  provider.observe = (...asked) => {
    told.looks += 1;
    return observe(...asked);
  };
  told.rig.api.apply('web', webSpec);
  await told.rig.start({}, { metrics });
  await told.rig.clock.advance(10_000);
  return told;
}

test('it is settled as any other, and looked at again when it says so, with what changes in between', async () => {
  const warnings = [{ reason: 'Odd', message: 'one is left out' }];
  const told = await settledWith(() => ({ ...READY, warnings, againAfterMs: 10 * MINUTE_MS }));
  const { api, clock, events } = told.rig;
  const ready = (): unknown => api.get('web')?.status?.conditions?.find(({ type }) => type === readyCondition)?.status;
  assert.deepEqual([told.plans, ready() ?? 'True'], [1, 'True']);
  const before = told.looks;
  await clock.advance(9 * MINUTE_MS);
  assert.deepEqual([told.plans, told.looks - before], [1, 0]);
  // A turn that finds nothing changed leaves that of the plan where it was.
  const service = api.get('web') ?? {};
  api.services.put({ ...service, status: { ...service.status, loadBalancer: { ingress: [{ hostname: 'theirs' }] } } });
  await clock.advance(10_000);
  assert.deepEqual(api.get('web')?.status?.loadBalancer?.ingress, [{ hostname: 'lb.test' }]);
  assert.deepEqual([told.plans, told.looks - before], [1, 0]);
  await clock.advance(MINUTE_MS);
  assert.deepEqual([told.plans, told.looks - before], [2, 1]);
  await clock.advance(HOUR_MS);
  assert.deepEqual([told.plans, told.looks - before], [8, 7]);
  assert.equal(events.filter(({ reason }) => reason === 'Odd').length, 3);
  api.nodes.put(nodeOf('n2'));
  await clock.advance(5_000);
  assert.equal(told.plans, 9);
  await told.rig.stop();
});

test('not more often than once a minute, and no more once it no longer says so', async () => {
  let againAfterMs: number | undefined = 1;
  const told = await settledWith(() => ({ ...READY, againAfterMs }));
  const { clock } = told.rig;
  await clock.advance(10 * MINUTE_MS);
  assert.ok(told.plans >= 9 && told.plans <= 11, `${told.plans}`);
  againAfterMs = undefined;
  const before = told.plans;
  await clock.advance(HOUR_MS);
  assert.equal(told.plans - before, 1);
  await told.rig.stop();
});

test('what is done then is an update, without the latency of a change of nodes', async () => {
  const action = actionOn('update', 'load-balancer a');
  let isDue = false;
  const latencies: string[] = [];
  const told = await settledWith(
    () => (isDue ? { ...IDLE, actions: [action] } : { ...READY, againAfterMs: 5 * MINUTE_MS }),
    { ...noMetrics, histogram: ({ name }) => ({ observe: () => void latencies.push(name) }) },
  );
  const { clock, provider } = told.rig;
  told.apply = () => {
    isDue = false;
    return { kind: 'done' };
  };
  const updates = (): number => latencies.filter((name) => name.includes('update_loadbalancer_host')).length;
  isDue = true;
  told.rig.api.nodes.put(nodeOf('n2'));
  await clock.advance(10_000);
  assert.deepEqual([provider.applied.length, updates()], [1, 1]);
  provider.applied.length = 0;
  isDue = true;
  await clock.advance(4 * MINUTE_MS);
  assert.deepEqual(provider.applied, []);
  await clock.advance(2 * MINUTE_MS);
  assert.deepEqual(provider.applied, ['update load-balancer a']);
  assert.deepEqual(told.rig.reasons('web'), ['UpdatedLoadBalancer', 'UpdatedLoadBalancer']);
  assert.equal(updates(), 1);
  await told.rig.stop();
});

test('while the cloud cannot be asked then, it is Ready and says nothing, and its address is kept by what is known', async () => {
  const told = await settledWith(() => ({ ...READY, againAfterMs: 10 * MINUTE_MS }));
  const { api, clock, provider } = told.rig;
  const observe = provider.observe.bind(provider);
  let looks = 0;
  provider.observe = (services) => {
    looks += 1;
    return Promise.resolve(
      services.map(() => ({ kind: 'failed', error: new CloudError('unavailable', 'the cloud is away') })),
    );
  };
  await clock.advance(15 * MINUTE_MS);
  for (let i = 0; i < 60; i++) {
    api.nodes.put(nodeOf(`other-${i}`));
    await clock.advance(5_000);
  }
  const service = api.get('web') ?? {};
  api.services.put({ ...service, status: { ...service.status, loadBalancer: {} } });
  await clock.advance(10_000);
  assert.deepEqual(api.get('web')?.status?.loadBalancer?.ingress, [{ hostname: 'lb.test' }]);
  await clock.advance(40 * MINUTE_MS);
  assert.ok(looks >= 4 && looks <= 7, `${looks} looks in an hour`);
  const ready = api.get('web')?.status?.conditions?.find(({ type }) => type === readyCondition)?.status;
  assert.deepEqual([told.rig.reasons('web'), ready ?? 'True'], [[], 'True']);
  provider.observe = observe;
  const before = told.plans;
  await clock.advance(11 * MINUTE_MS);
  assert.equal(told.plans - before, 1);
  await told.rig.stop();
});

test('while it is refused then, nodes that it does not select cost no look', async () => {
  let isRefused = false;
  const told = await settledWith(() => {
    if (isRefused) throw new CloudError('not-owned', 'the address is of another');
    return { ...READY, againAfterMs: 10 * MINUTE_MS };
  });
  const { api, clock } = told.rig;
  isRefused = true;
  await clock.advance(11 * MINUTE_MS);
  assert.deepEqual(told.rig.reasons('web').slice(0, 1), ['UpdateLoadBalancerFailed']);
  const before = told.looks;
  for (let i = 0; i < 30; i++) {
    api.nodes.put(nodeOf(`other-${i}`));
    await clock.advance(5_000);
  }
  const { looks } = told;
  assert.ok(looks - before <= 3, `${looks - before} looks`);
  api.nodes.put(nodeOf('n2'));
  await clock.advance(5_000);
  assert.ok(told.looks > looks, 'one that it selects may be what it was refused for');
  await told.rig.stop();
});
