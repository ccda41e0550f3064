/** The floating IP of a load balancer that is being made is planned with it: nothing of it has to wait for Octavia. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerAction, LoadBalancerService } from '@outrigger/cloud-provider';
import type { FakeRequest } from '../../fake/fake-http.ts';
import { annotated } from './desired/tree-inputs.suite.ts';
import type { WireFloatingIP } from './neutron-wire.ts';
import { callContext, Rig, serviceNamed } from './rig.suite.ts';

/** What the first plan with actions is to make. */
async function firstPlan(rig: Rig, service: LoadBalancerService): Promise<readonly string[]> {
  const { others, parts } = await rig.lookAround(service);
  return rig.provider.plan({ ...rig.desired(service), others }, parts).actions.map(({ part }) => part);
}

const floatingIPsOf = async (rig: Rig): Promise<readonly WireFloatingIP[]> =>
  Object.entries(await rig.everything()).flatMap(([name, one]) =>
    name.startsWith('floatingips ') ? [one as WireFloatingIP] : [],
  );

const networkCalls = (rig: Rig): readonly string[] =>
  Object.entries(rig.cloud.calls.counts()).flatMap(([name, count]) =>
    /floatingips|networks/u.test(name) ? [`${count} ${name}`] : [],
  );

test('it has its port while Octavia is still at work, and one plan makes both', async () => {
  const rig = await Rig.open();
  rig.cloud.octavia.settings.createMs = 60_000;
  const web = serviceNamed('web');
  rig.cloud.calls.reset();
  const done: LoadBalancerAction[] = [];
  await rig.pass(rig.desired(web), (action) => done.push(action));
  assert.deepEqual(
    done.map(({ part }) => part),
    ['load-balancer', 'floating-ip'],
  );
  // Its tags are known from the answer.
  assert.deepEqual(networkCalls(rig), [
    '1 network GET /floatingips',
    '1 network GET /networks',
    '1 network POST /floatingips',
    '1 network PUT /floatingips/{id}/tags',
  ]);
  const [loadBalancer] = rig.cloud.octavia.store.loadBalancers.values();
  const [floatingIP] = await floatingIPsOf(rig);
  assert.equal(loadBalancer?.provisioning_status, 'PENDING_CREATE');
  assert.equal(floatingIP?.port_id, loadBalancer.vip_port_id);
  // A load balancer that is being made is no promise yet.
  const meanwhile = await rig.pass(rig.desired(web));
  assert.deepEqual([meanwhile.actions, meanwhile.complete, meanwhile.ingress], [[], false, []]);
  const plan = await rig.bring(web);
  assert.equal(plan.ingress[0]?.ip, floatingIP.floating_ip_address);
});

test('nothing of it is planned where only a look can tell which it is to be, or whether there is to be one', async () => {
  const rig = await Rig.open({ loadBalancer: { allowAllNamedResources: true } });
  const { networks } = rig.cloud.networking;
  const share = networks.networks.change(rig.seeded.publicNetwork.id, { shared: true });
  const port = rig.cloud.networking.ports.add({
    network_id: rig.seeded.network.id,
    project_id: rig.seeded.project.id,
  });
  const annotations = {
    subnets: annotated({ floatingNetworkId: share.id, floatingSubnet: 'pool-*' }),
    port: annotated({ portId: port.id }),
    internal: annotated({ internal: 'true' }),
  };
  rig.cloud.calls.reset();
  for (const [name, one] of Object.entries(annotations))
    assert.deepEqual(await firstPlan(rig, serviceNamed(name, { annotations: one })), ['load-balancer'], name);
  assert.ok(!networkCalls(rig).some((call) => call.endsWith('GET /networks')), 'nor is a network asked for');
  const asking = serviceNamed('asking', { requestedIP: '203.0.113.99' });
  assert.deepEqual(await firstPlan(rig, asking), ['load-balancer']);
  const named = annotated({ floatingNetworkId: share.id });
  assert.deepEqual(await firstPlan(rig, serviceNamed('named', { annotations: named })), [
    'load-balancer',
    'floating-ip',
  ]);
});

test('one that is left of a load balancer that went is used again, and no other is made', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const before = await rig.bring(web);
  const [loadBalancer] = rig.cloud.octavia.store.loadBalancers.values();
  assert.ok(loadBalancer);
  const path = `/v2.0/lbaas/loadbalancers/${loadBalancer.id}`;
  const request = { service: 'load-balancer', operation: 'x', method: 'DELETE', path } as const;
  await rig.client.request(callContext(), { ...request, query: [['cascade', 'true']] });
  await rig.clock.sleep(60_000);
  assert.deepEqual(await firstPlan(rig, web), ['load-balancer']);
  assert.deepEqual((await rig.bring(web)).ingress, before.ingress);
  assert.equal((await floatingIPsOf(rig)).length, 1);
});

test('where Neutron refuses it, it is made later, beside the same load balancer', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const operation = 'POST /floatingips';
  rig.cloud.faults.set({ service: 'network', operation, effect: 'status', status: 409, times: 1 });
  await assert.rejects(rig.bring(web), { code: 'conflict' });
  assert.match((await rig.bring(web)).ingress[0]?.ip ?? '', /^203\.0\.113\./u);
  assert.equal(rig.cloud.octavia.store.loadBalancers.size, 1);
});

test('no other load balancer is taken for it: what is not shown yet is read again', async () => {
  const rig = await Rig.open();
  await rig.bring(serviceNamed('other', { annotations: annotated({ internal: 'true' }) }));
  const web = serviceNamed('web');
  const { others, parts } = await rig.lookAround(web);
  const desired = { ...rig.desired(web), others };
  const [, second] = rig.provider.plan(desired, parts).actions;
  assert.ok(second);
  const told = { code: 'retry-after', effect: 'none', retryAfterMs: 1_000 };
  for (const knowsTags of [true, false]) {
    // An Octavia of before API version 2.5 shows all that there are.
    const when = ({ query }: FakeRequest): boolean => {
      if (!knowsTags) query.delete('tags');
      return false;
    };
    rig.cloud.faults.set({ service: 'load-balancer', operation: 'GET /loadbalancers', effect: 'hang', when });
    await assert.rejects(rig.provider.apply(second, desired, callContext()), told);
  }
  assert.equal((await floatingIPsOf(rig)).length, 0);
});
