/** Load balancers in two parts: a public address, and the load balancer that has it. The cloud creates the latter in the background. */
import type { ClusterPlace, LoadBalancers, ProviderHost } from '@outrigger/cloud-provider';
import {
  annotationTable,
  ownerIn,
  partLoadBalancers,
  restPartCalls,
  tagsOf,
  type Begun,
  type HttpClient,
  type ListedPart,
  type PartKind,
} from '@outrigger/provider-kit';
import { collection, NAME } from './cloud-api.ts';

interface Address {
  readonly id: string;
  readonly ip: string;
  readonly labels?: Readonly<Record<string, string>>;
}

interface Balancer {
  readonly id: string;
  readonly state: 'creating' | 'updating' | 'active' | 'deleting' | 'failed';
  readonly address: string;
  readonly size: string;
  readonly allow: readonly string[];
  readonly ports: readonly object[];
  readonly servers: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
}

const PART_STATES = {
  creating: 'pending',
  updating: 'pending',
  active: 'ready',
  deleting: 'deleting',
  failed: 'failed',
} as const;

const annotations = annotationTable({
  size: { name: 'my-cloud.example/size', values: ['small', 'large'], meaning: 'Size. Default: small.' },
});

export function loadBalancersOf(host: ProviderHost, api: HttpClient, place: ClusterPlace): LoadBalancers {
  return partLoadBalancers({
    host,
    name: NAME,
    annotations: annotations.declared,
    features: { sourceRanges: true },
    isAsync: true,
    place,
    kinds: [addressOf(api), balancerOf(api)],
  });
}

function addressOf(api: HttpClient): PartKind {
  return {
    kind: 'address',
    wanted: () => [{ attributes: {} }],
    ...restPartCalls(collection<Address>(api, '/addresses'), {
      partOf: ({ id, ip, labels }) => ({
        id,
        owner: ownerIn(labels),
        state: 'ready',
        attributes: {},
        addresses: [ip],
      }),
      ownerIn: (owner) => ({ labels: tagsOf(owner) }),
    }),
  };
}

function balancerOf(api: HttpClient): PartKind {
  const balancers = collection<Balancer>(api, '/load-balancers');
  const partOf = ({ id, labels, state, ...attributes }: Balancer): ListedPart => ({
    id,
    owner: ownerIn(labels),
    state: PART_STATES[state],
    attributes,
  });
  const begun = (id: string): Begun => ({ handle: id, pollAfterMs: 2_000 });
  return {
    kind: 'load-balancer',
    needs: ['address'],
    wanted: ({ service }, there) => {
      const { size = 'small' } = annotations.read(service.annotations);
      const ports = service.ports.map(({ nodePort, port }) => ({ port, nodePort }));
      return [{ attributes: { address: there('address')?.id, size, allow: service.sourceRanges, ports } }];
    },
    members: ({ backEnds }) => ({
      servers: backEnds.map(({ node }) => node.providerID?.slice(`${NAME}://`.length)),
    }),
    fixed: ['size'],
    list: async (call) => (await balancers.list(call)).map(partOf),
    read: async (id, call) => partOf(await balancers.read(id, call)),
    create: async ({ attributes, owner }, call) => {
      const { id } = await balancers.create({ ...attributes, labels: tagsOf(owner) }, call);
      return { id, begun: begun(id) };
    },
    update: async (id, { attributes }, call) => {
      await balancers.change(id, attributes, call);
      return begun(id);
    },
    delete: async (id, call) => {
      await balancers.delete(id, call);
      return begun(id);
    },
  };
}
