import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { annotated } from './desired/tree-inputs.suite.ts';
import { callContext, Rig, serviceNamed } from './rig.suite.ts';

test('port-id and loadBalancerIP: the address says which of the port it is', async () => {
  const rig = await Rig.open({ loadBalancer: { allowAllNamedResources: true } });
  const { port } = await rig.client.request<{
    port: { readonly id: string; readonly fixed_ips: readonly { readonly ip_address: string }[] };
  }>(callContext(), {
    service: 'network',
    operation: 'POST /v2.0/ports',
    method: 'POST',
    path: '/v2.0/ports',
    body: { port: { network_id: rig.seeded.network.id } },
  });
  const address = port.fixed_ips.map((one) => one.ip_address).find((ip) => !ip.includes(':'));
  assert.ok(address);
  const annotations = annotated({ portId: port.id, internal: 'true' });
  const plan = await rig.bring(serviceNamed('web', { annotations, requestedIP: address }));
  assert.deepEqual(
    plan.ingress.map(({ ip }) => ip),
    [address],
  );
  const sent = rig.cloud.calls.all().find(({ operation }) => operation === 'POST /loadbalancers');
  assert.match(JSON.stringify(sent?.body), new RegExp(`"vip_address":"${address}"`));
});
