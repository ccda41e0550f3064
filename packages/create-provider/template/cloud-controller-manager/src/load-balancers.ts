/** Load balancers: an address, the balancer on it, and a firewall that lets its clients in. What each is made of stands here; when, is the kit's. */
import type { LoadBalancers, ProviderHost } from '@outrigger/cloud-provider';
import {
  annotationTable,
  ownerIn,
  partLoadBalancers,
  restPartCalls,
  tagsOf,
  type HttpClient,
  type ListedPart,
  type PartKind,
} from '@outrigger/provider-kit';
import { PROVIDER_NAME, thingsAt, type Thing } from './api.ts';

/** docs/cloud-controller-manager.md describes them: `annotations.page()` is its table. */
const annotations = annotationTable({
  size: { name: 'my-cloud.example/size', values: ['small', 'large'], meaning: 'Size of the balancer. Default: small.' },
});

export function loadBalancersOf(host: ProviderHost, api: HttpClient): LoadBalancers {
  const callsOf = (path: `/${string}`): Omit<PartKind, 'kind' | 'wanted'> =>
    restPartCalls(thingsAt(api, path), { partOf, ownerIn: (owner) => ({ labels: tagsOf(owner) }) });
  const address: PartKind = {
    kind: 'address',
    ...callsOf('/addresses'),
    wanted: () => [{ attributes: {} }],
  };
  const balancer: PartKind = {
    kind: 'load-balancer',
    ...callsOf('/load-balancers'),
    needs: ['address'],
    wanted: ({ service }, there) => {
      const { size = 'small' } = annotations.read(service.annotations);
      const ports = service.ports.map(({ nodePort, port, protocol }) => ({ port, nodePort, protocol }));
      return [{ attributes: { address: there('address')?.id, size, ports } }];
    },
    // They follow the nodes, also while a wish of the Service is refused.
    members: ({ backEnds }) => ({ targets: backEnds.map(({ node }) => node.providerID) }),
  };
  const firewall: PartKind = {
    kind: 'firewall',
    ...callsOf('/firewalls'),
    needs: ['load-balancer'],
    wanted: ({ service: { sourceRanges: sources } }, there) => [
      { attributes: { balancer: there('load-balancer')?.id, sources } },
    ],
  };
  return partLoadBalancers({
    host,
    name: PROVIDER_NAME,
    annotations: annotations.declared,
    features: { sourceRanges: true },
    kinds: [address, balancer, firewall],
  });
}

function partOf({ id, ip, labels, ...attributes }: Thing & { readonly ip?: string }): ListedPart {
  return { id, owner: ownerIn(labels), state: 'ready', attributes, ...(ip && { addresses: [ip] }) };
}
