import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  adaptLoadBalancers,
  CloudError,
  type CallContext,
  type DesiredLoadBalancer,
  type LoadBalancers,
  type OpaqueLoadBalancer,
} from './index.ts';

const call = {} as CallContext;
const service: DesiredLoadBalancer['service'] = {
  uid: 'u',
  namespace: 'default',
  name: 'web',
  labels: {},
  annotations: {},
  ports: [],
  ipFamilies: ['IPv4'],
  ipFamilyPolicy: 'SingleStack',
  externalTrafficPolicy: 'Cluster',
  sourceRanges: [],
  ingress: [],
};
const desired: DesiredLoadBalancer = { service, wanted: true, owner: { clusterId: 'c', uid: 'u' }, backEnds: [] };

function adapt(calls: string[], more: Partial<OpaqueLoadBalancer> = {}): LoadBalancers {
  const opaque: OpaqueLoadBalancer = {
    exists: async () => (calls.push('exists'), false),
    ensure: async ({ backEnds }) => (calls.push(`ensure ${backEnds.length}`), [{ ip: '192.0.2.1' }]),
    delete: async () => void calls.push('delete'),
    ...more,
  };
  return adaptLoadBalancers(opaque, {
    clusterId: 'c',
    classes: [],
    features: {
      protocols: ['TCP'],
      mixedProtocols: false,
      ipFamilies: ['IPv4'],
      dualStack: false,
      sessionAffinity: false,
      externalTrafficPolicyLocal: true,
      sourceRanges: true,
      withoutNodePorts: false,
      requestedIP: false,
    },
  });
}

const addressesIn = async (balancers: LoadBalancers): Promise<readonly string[] | undefined> => {
  const [observed] = await balancers.observe([service], call);
  return observed?.kind === 'parts' ? observed.parts[0]?.addresses : undefined;
};

test('of a Service whose owner is empty, the provider is asked whether it has a load balancer', async () => {
  const calls: string[] = [];
  const annotations = { 'outrigger.dev/load-balancer-provider': '' };
  const [observed] = await adapt(calls).observe([{ ...service, annotations }], call);
  assert.deepEqual([observed?.kind === 'parts' && observed.parts, calls], [[], ['exists']]);
});

/** Observes, plans and applies; returns what the plan said. */
async function pass(balancers: LoadBalancers, wanted: DesiredLoadBalancer): Promise<string> {
  const [observed] = await balancers.observe([wanted.service], call);
  if (observed?.kind !== 'parts') return 'failed';
  const plan = balancers.plan(wanted, observed.parts);
  for (const action of plan.actions) await balancers.apply(action, wanted, call);
  const [first] = plan.actions;
  return first ? first.kind : plan.complete ? `complete ${plan.ingress.map(({ ip }) => ip).join()}`.trim() : 'waits';
}

test('ensured once, again where something has changed, and deleted once', async () => {
  const calls: string[] = [];
  const balancers = adapt(calls);
  assert.equal(await pass(balancers, desired), 'create');
  assert.equal(await pass(balancers, desired), 'complete 192.0.2.1');
  assert.equal(
    await pass(balancers, { ...desired, service: { ...service, ingress: [{ ip: '192.0.2.1' }] } }),
    'complete 192.0.2.1',
  );
  const node = { name: 'n', uid: 'n', providerID: 'x://n', labels: {}, annotations: {} };
  const more = { ...desired, backEnds: [{ node, addresses: [] }] };
  assert.equal(await pass(balancers, more), 'update');
  assert.equal(await pass(balancers, more), 'complete 192.0.2.1');
  assert.equal(await pass(balancers, { ...desired, wanted: false }), 'delete');
  assert.equal(await pass(balancers, { ...desired, wanted: false }), 'complete');
  assert.deepEqual(calls, ['exists', 'ensure 0', 'ensure 1', 'delete']);
  assert.equal(balancers.lockKey?.(service), 'u');
  assert.deepEqual(await balancers.listOwned(call), []);
});

test('what was begun is deleted, by whichever process and however much of it there is', async () => {
  const calls: string[] = [];
  const failing = adapt(calls, { ensure: () => Promise.reject(new CloudError('quota', 'full')) });
  await assert.rejects(pass(failing, desired), { code: 'quota' });
  assert.equal(await pass(failing, { ...desired, wanted: false }), 'delete');

  const recorded = { ...service, annotations: { 'outrigger.dev/load-balancer-provider': 'x' } };
  assert.equal(await pass(adapt(calls), { ...desired, service: recorded, wanted: false }), 'delete');
  assert.equal(await pass(adapt(calls), { ...desired, wanted: false }), 'complete', 'never begun');
  assert.deepEqual(calls, ['exists', 'delete', 'delete', 'exists']);
});

test('what could not be found out is a failure of its own', async () => {
  const balancers = adapt([], {
    exists: ({ name }) => (name === 'bad' ? Promise.reject(new Error('down')) : Promise.resolve(true)),
  });
  const observed = await balancers.observe([service, { ...service, uid: 'v', name: 'bad' }], call);
  assert.deepEqual(
    observed.map(({ kind }) => kind),
    ['parts', 'failed'],
  );
});

test('where members can be updated alone, they follow the nodes while the rest is refused', async () => {
  const calls: string[] = [];
  let isThere = true;
  let isDown = false;
  const more: Partial<OpaqueLoadBalancer> = {
    exists: () => Promise.resolve(isThere),
    update: async ({ backEnds }) => {
      calls.push(`update ${backEnds.length}`);
      if (isDown) throw new CloudError('unavailable', 'down');
    },
  };
  const members = async (balancers: LoadBalancers, wanted: DesiredLoadBalancer): Promise<string> => {
    const [observed] = await balancers.observe([wanted.service], call);
    if (observed?.kind !== 'parts') return 'failed';
    const plan = balancers.planMembers?.(wanted, observed.parts);
    for (const action of plan?.actions ?? []) await balancers.apply(action, wanted, call);
    return plan?.actions[0]?.kind ?? (plan?.complete ? 'complete' : 'waits');
  };
  const node = { name: 'n', uid: 'n', providerID: 'x://n', labels: {}, annotations: {} };
  const refused = { ...desired, service: { ...service, ports: [{ name: '', port: 1, protocol: 'SCTP' as const }] } };
  const grown = { ...refused, backEnds: [{ node, addresses: [] }] };

  assert.ok(!adapt([]).planMembers, 'a cloud that has no such call');
  const balancers = adapt(calls, more);
  await pass(balancers, desired);
  assert.equal(await members(balancers, refused), 'complete', 'the same nodes');
  assert.equal(await members(balancers, grown), 'update');
  assert.equal(await members(balancers, grown), 'complete');
  assert.equal(
    await pass(balancers, { ...desired, backEnds: grown.backEnds }),
    'update',
    'what is accepted is ensured',
  );

  // A new process knows by the address alone that there is something to have members.
  const recorded = { ...service, annotations: { 'outrigger.dev/load-balancer-provider': 'x' } };
  const served = { ...grown, service: { ...recorded, ingress: [{ ip: '192.0.2.1' }] } };
  const restarted = adapt(calls, more);
  assert.equal(await members(restarted, { ...grown, service: recorded }), 'complete', 'half made: nothing to update');
  isDown = true;
  await assert.rejects(members(restarted, served), { code: 'unavailable' });
  isThere = false;
  assert.equal(await members(restarted, served), 'update', 'it is gone, and has no members to follow nodes');
  assert.equal(await members(restarted, served), 'complete');
  assert.equal(await pass(restarted, served), 'update', 'it is ensured again where it is accepted');
  assert.deepEqual(calls, ['ensure 0', 'update 1', 'ensure 1', 'update 1', 'update 1', 'ensure 1']);
});

test('an address is shown on while its load balancer cannot be changed: the host would take it out of the status', async () => {
  let isDown = false;
  const ensure = (): Promise<[{ ip: string }]> =>
    isDown ? Promise.reject(new CloudError('quota', 'full')) : Promise.resolve([{ ip: '192.0.2.1' }]);
  const balancers = adapt([], { ensure });
  await pass(balancers, desired);
  isDown = true;
  await assert.rejects(pass(balancers, { ...desired, service: { ...service, labels: { a: 'b' } } }), /full/);
  assert.deepEqual(await addressesIn(balancers), ['192.0.2.1']);
});
