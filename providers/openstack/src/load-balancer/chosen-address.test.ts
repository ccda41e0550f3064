/** A Service that is served asks for another floating IP: it is served at the old one until it has the new one. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotated } from './desired/tree-inputs.suite.ts';
import { markedDescription } from './ownership.ts';
import { Rig, served, serviceNamed } from './rig.suite.ts';

const CHOSEN = '203.0.113.99';

async function openServed(more: Partial<LoadBalancerService> = {}): Promise<{ rig: Rig; was: LoadBalancerService }> {
  const rig = await Rig.open();
  const web = serviceNamed('web', more);
  return { rig, was: served(web, await rig.bring(web)) };
}

/** Each with whether it is on a port. */
const addressesOf = ({ cloud }: Rig): Readonly<Record<string, boolean>> =>
  Object.fromEntries(
    cloud.networking.floatingIps.floatingIps.all().map((one) => [one.floating_ip_address, one.port_id !== null]),
  );

const addChosen = ({ clusterId, cloud, seeded }: Rig, { uid }: LoadBalancerService): void => {
  cloud.networking.floatingIps.add({
    floating_network_id: seeded.publicNetwork.id,
    floating_ip_address: CHOSEN,
    project_id: seeded.project.id,
    description: markedDescription('', { owner: { clusterId, uid }, keep: false }),
  });
};

test('one that Neutron does not give keeps the Service at the address that it has', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const asking = { ...was, requestedIP: CHOSEN };
  for (let pass = 0; pass < 3; pass++) await assert.rejects(rig.bring(asking), { code: 'forbidden' });
  assert.deepEqual(addressesOf(rig), { [ip]: true });
  const plan = rig.provider.plan(rig.desired(asking), await rig.look(asking));
  assert.deepEqual(plan.ingress, was.ingress);
});

test('the new one is made first, then attached, and the old one deleted where the new one is seen on the port', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  const asking = { ...was, requestedIP: CHOSEN };
  const { actions } = rig.provider.plan(rig.desired(asking), await rig.look(asking));
  assert.deepEqual(
    actions.map(({ summary }) => summary),
    [`create the floating IP ${CHOSEN}`],
  );
  assert.ok(!JSON.stringify(actions[0]?.input).includes('port_id'));
  addChosen(rig, was);
  const operation = 'PUT /floatingips';
  // The first takes the old one off the port.
  const when = ({ body }: { readonly body?: unknown }): boolean => !JSON.stringify(body).includes('null');
  rig.cloud.faults.set({ service: 'network', operation, effect: 'status', status: 503, when });
  await assert.rejects(rig.bring(asking), { code: 'unavailable' });
  assert.deepEqual(addressesOf(rig), { [ip]: false, [CHOSEN]: false });
  rig.cloud.faults.set();
  assert.deepEqual((await rig.bring(asking)).ingress, [{ ip: CHOSEN, ipMode: 'VIP' }]);
  assert.deepEqual(addressesOf(rig), { [CHOSEN]: true });
});

test('a wish that is taken back before the new one is attached leaves the old one, and no other', async () => {
  const { rig, was } = await openServed();
  const [{ ip = '' } = {}] = was.ingress;
  addChosen(rig, was);
  assert.deepEqual((await rig.bring(was)).ingress, was.ingress);
  assert.deepEqual(addressesOf(rig), { [ip]: true });
});

test('the old one that is to be kept is taken off the port, and stays', async () => {
  const { rig, was } = await openServed({ annotations: annotated({ keepFloatingIP: 'true' }) });
  const [{ ip = '' } = {}] = was.ingress;
  addChosen(rig, was);
  await rig.bring({ ...was, requestedIP: CHOSEN });
  assert.deepEqual(addressesOf(rig), { [ip]: false, [CHOSEN]: true });
});
