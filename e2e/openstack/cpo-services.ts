/** A Service as cloud-provider-openstack knows it, and what it writes onto one. */
import assert from 'node:assert/strict';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { resources, type Client, type Service } from '@outrigger/kube';
import { serviceOf } from '../../providers/openstack/src/load-balancer/desired/tree-inputs.suite.ts';

export const CPO_FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';

export function cpoServiceOf({ metadata, spec, status }: Service): LoadBalancerService {
  return serviceOf({
    name: metadata?.name ?? assert.fail(),
    namespace: metadata?.namespace ?? assert.fail(),
    uid: metadata?.uid ?? assert.fail(),
    annotations: metadata?.annotations ?? {},
    ports: (spec?.ports ?? []).map(({ name = '', nodePort = 0, port, protocol = 'TCP' }) => {
      assert.ok(protocol === 'TCP' || protocol === 'UDP' || protocol === 'SCTP');
      return { name, nodePort, port, protocol };
    }),
    ingress: (status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip === undefined ? [] : [{ ip }])),
  });
}

/** Its finalizer, its annotations, the address. */
export async function writeAsCpo(
  client: Client,
  { annotations, ingress, name, namespace }: LoadBalancerService,
): Promise<void> {
  const services = client.of(resources.services);
  const metadata = { annotations, finalizers: [CPO_FINALIZER] };
  await services.patch({ namespace, name }, { type: 'merge', body: { metadata } });
  const status = { loadBalancer: { ingress } };
  await services.patch({ namespace, name }, { type: 'merge', body: { status } }, { subresource: 'status' });
}
