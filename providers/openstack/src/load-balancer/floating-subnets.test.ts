import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { annotated } from './desired/tree-inputs.suite.ts';
import { Rig, serviceNamed } from './rig.suite.ts';

test('the first matching subnet with a free address; none that matches, and none that is free, are told apart', async () => {
  const rig = await Rig.open();
  const { networks } = rig.cloud.networking;
  // Else the project sees none of its subnets.
  const share = networks.networks.change(rig.seeded.publicNetwork.id, { shared: true });
  networks.addSubnet(share, { name: 'full-1', cidr: '198.51.100.0/30', enable_dhcp: false });
  const second = networks.addSubnet(share, { name: 'full-2', cidr: '198.51.101.0/24', enable_dhcp: false });
  const on = (name: string, floatingSubnet: string): ReturnType<Rig['bring']> =>
    rig.bring(serviceNamed(name, { annotations: annotated({ floatingNetworkId: share.id, floatingSubnet }) }));
  // All that the small one has.
  assert.equal((await on('a', 'full-1')).ingress[0]?.ip, '198.51.100.2');
  for (const name of ['b', 'c']) assert.match((await on(name, 'full-*')).ingress[0]?.ip ?? '', /^198\.51\.101\./);
  await assert.rejects(on('e', 'full-1'), /none of the 1 subnets .* has a free address; .* No more IP addresses/);
  assert.match((await on('f', 'no-*')).refused?.message ?? '', /has no subnet that matches/);
  const named = annotated({ floatingNetworkId: share.id, floatingSubnetId: second.id });
  assert.match((await rig.bring(serviceNamed('g', { annotations: named }))).ingress[0]?.ip ?? '', /^198\.51\.101\./);
});

test('an address that was given is the last one that is asked for, whatever becomes of its tags', async () => {
  const rig = await Rig.open();
  const { networks } = rig.cloud.networking;
  const share = networks.networks.change(rig.seeded.publicNetwork.id, { shared: true });
  for (const i of [1, 2]) {
    networks.addSubnet(share, { name: `pool-${i}`, cidr: `198.51.10${i}.0/24`, enable_dhcp: false });
  }
  const operation = 'PUT /floatingips/{id}/tags';
  rig.cloud.faults.set({ service: 'network', operation, effect: 'status', status: 409, times: 1 });
  const annotations = annotated({ floatingNetworkId: share.id, floatingSubnet: 'pool-*' });
  await assert.rejects(rig.bring(serviceNamed('web', { annotations })), { code: 'conflict' });
  assert.equal(rig.cloud.calls.counts()['network POST /floatingips'], 1);
});

test('a project without an external network: the VIP alone, and an Event that says why', async () => {
  const rig = await Rig.open();
  for (const floating of rig.cloud.networking.networks.networks.all()) {
    if (floating.id === rig.seeded.publicNetwork.id)
      rig.cloud.networking.networks.networks.change(floating.id, { 'router:external': false });
  }
  const plan = await rig.bring(serviceNamed('web'));
  assert.deepEqual([plan.ingress.length, plan.warnings?.map(({ reason }) => reason)], [1, ['NoFloatingNetwork']]);
  assert.match(plan.ingress[0]?.ip ?? '', /^10\./);
});
