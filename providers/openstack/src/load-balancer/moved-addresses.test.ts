/** Floating IPs that somebody else moves, or that change by themselves, between the look and the write that rests on it. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { JudgedThing, LoadBalancerAction, LoadBalancerPart, LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated, portOf } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

interface Looked {
  readonly parts: readonly LoadBalancerPart[];
  readonly others: readonly JudgedThing[];
}

/** What is planned on that look. */
function planned(rig: Rig, service: LoadBalancerService, { others, parts }: Looked): readonly LoadBalancerAction[] {
  return rig.provider.plan({ ...rig.desired(service), others }, parts).actions;
}

const apply = (rig: Rig, action: LoadBalancerAction, service: LoadBalancerService, wanted = true): Promise<unknown> =>
  rig.provider.apply(action, rig.desired(service, wanted), callContext());

/** One that is set aside for the namespace of the Services. */
function grant({ cloud, seeded }: Rig, namespace: string): { readonly id: string; readonly address: string } {
  const { floatingIps } = cloud.networking;
  const { floating_ip_address: address, id } = floatingIps.add({
    floating_network_id: seeded.publicNetwork.id,
    project_id: seeded.project.id,
  });
  floatingIps.floatingIps.change(id, { tags: [`outrigger-namespace=${namespace}`] });
  return { id, address };
}

const portOfIP = ({ cloud }: Rig, id: string): string | null | undefined =>
  cloud.networking.floatingIps.floatingIps.get(id)?.port_id;

function idOfOnly({ cloud }: Rig): string {
  const [one, ...more] = cloud.networking.floatingIps.floatingIps.all();
  assert.ok(one && more.length === 0);
  return one.id;
}

/** Onto a server, as a person does it. */
function moveToServer({ cloud, seeded }: Rig, id: string): string {
  const { floatingIps } = cloud.networking;
  const { port } = seeded.addNode({ name: 'a-person-s' });
  const one = floatingIps.floatingIps.get(id);
  assert.ok(one);
  floatingIps.change(one, { port_id: port.id });
  return port.id;
}

const told = { code: 'retry-after', effect: 'none' };

test('of two Services that ask for one address, the one that comes second does not take it from the first', async () => {
  const rig = await Rig.open();
  const [first, second] = ['first', 'second'].map((name) => serviceNamed(name));
  assert.ok(first && second);
  const was = served(first, await rig.bring(first));
  const other = served(second, await rig.bring(second));
  const { address, id } = grant(rig, first.namespace);
  const asking = { ...was, requestedIP: address };
  const late = { ...other, requestedIP: address };
  const seen = await rig.lookAround(late);
  assert.deepEqual((await rig.bring(asking)).ingress, [{ ip: address, ipMode: 'VIP' }]);
  const port = portOfIP(rig, id);
  const [detach, attach, ...more] = planned(rig, late, seen);
  assert.ok(detach && attach && more.length === 0);
  await apply(rig, detach, late);
  await assert.rejects(apply(rig, attach, late), told);
  assert.equal(portOfIP(rig, id), port);
  // It is refused for what is seen by then, and served where it was.
  const { refused } = await rig.bring(late);
  assert.match(refused?.message ?? '', /is attached elsewhere/);
  const { floatingIps } = rig.cloud.networking.floatingIps;
  const its = floatingIps.all().find((one) => one.floating_ip_address === other.ingress[0]?.ip);
  assert.ok(its?.port_id);
});

test('an address that a person has given to a server since the look is not taken from it', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const { address, id } = grant(rig, web.namespace);
  await rig.bring({ ...web, annotations: annotated({ internal: 'true' }) });
  const asking = { ...web, requestedIP: address };
  const [attach] = planned(rig, asking, await rig.lookAround(asking));
  assert.ok(attach);
  const port = moveToServer(rig, id);
  await assert.rejects(apply(rig, attach, asking), told);
  assert.equal(portOfIP(rig, id), port);
});

test('an address that a person has moved to a server since the look is neither deleted nor detached', async () => {
  for (const keep of ['true', 'false']) {
    const rig = await Rig.open();
    const web = serviceNamed('web');
    await rig.bring(web);
    const id = idOfOnly(rig);
    const internal = { ...web, annotations: annotated({ internal: 'true', keepFloatingIP: keep }) };
    const [dismissal, ...more] = planned(rig, internal, await rig.lookAround(internal));
    assert.ok(dismissal && more.length === 0);
    const port = moveToServer(rig, id);
    await assert.rejects(apply(rig, dismissal, internal), told);
    assert.equal(portOfIP(rig, id), port, dismissal.summary);
  }
});

test('an address of its namespace that was moved since the look stays where it is when the load balancer is left to others', async () => {
  const rig = await Rig.open();
  const owner = serviceNamed('owner');
  const { address, id } = grant(rig, owner.namespace);
  const asking = { ...owner, requestedIP: address };
  const plan = await rig.bring(asking);
  const loadBalancerId = plan.annotations?.['loadbalancer.openstack.org/load-balancer-id'] ?? '';
  const annotations = annotated({ loadBalancerId });
  // It shared before the cluster's sharing was narrowed.
  rig.namespaces.set(owner.uid, 'team-b');
  await rig.bring(serviceNamed('stranger', { namespace: 'team-b', ports: [portOf(81)], annotations }));
  rig.namespaces.set(owner.uid, owner.namespace);
  const gone = served(asking, plan);
  const { others, parts } = await rig.lookAround(gone);
  const { actions } = rig.provider.plan({ ...rig.desired(gone, false), others }, parts);
  const detach = actions.find(({ summary }) => summary === `detach the floating IP ${address}`);
  assert.ok(detach, actions.map(({ summary }) => summary).join());
  const port = moveToServer(rig, id);
  await assert.rejects(apply(rig, detach, gone, false), told);
  assert.equal(portOfIP(rig, id), port);
});

test('what Neutron has written itself since the look, the status, is read again, and then it goes on', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const { floatingIps } = rig.cloud.networking.floatingIps;
  const id = idOfOnly(rig);
  const run = (): void => {
    floatingIps.change(id, { status: 'DOWN' });
  };
  rig.cloud.faults.set({ service: 'network', operation: 'DELETE /floatingips', effect: 'run', run, times: 1 });
  assert.ok((await rig.bring(served(web, plan), false)).complete);
  assert.equal(floatingIps.all().length, 0);
});

test('what was done although its answer was lost is done when it is sent again', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  await rig.bring(web);
  const id = idOfOnly(rig);
  const twice = async (service: LoadBalancerService): Promise<void> => {
    const [action, ...more] = planned(rig, service, await rig.lookAround(service));
    assert.ok(action && more.length === 0);
    for (let time = 0; time < 2; time++) await apply(rig, action, service);
  };
  await twice({ ...web, annotations: annotated({ internal: 'true', keepFloatingIP: 'true' }) });
  assert.equal(portOfIP(rig, id), null);
  await twice(web);
  assert.ok(portOfIP(rig, id));
  await twice({ ...web, annotations: annotated({ internal: 'true', keepFloatingIP: 'false' }) });
  assert.equal(portOfIP(rig, id), undefined);
});

test('a Neutron that refuses the revision that it shows is told of', async () => {
  const rig = await Rig.open();
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const operation = 'DELETE /floatingips';
  rig.cloud.faults.set({ service: 'network', operation, effect: 'status', status: 412 });
  await assert.rejects(rig.bring(served(web, plan), false), { code: 'conflict' });
});
