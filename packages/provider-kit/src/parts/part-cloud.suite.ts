/** A cloud of load balancers in four kinds of parts, that refuses what is in use or leads nowhere; at once or later. */
import {
  CloudError,
  type BackEnd,
  type CallContext,
  type Clock,
  type DesiredLoadBalancer,
  type LoadBalancers,
  type LoadBalancerService,
  type Owner,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { partLoadBalancers, type PartLoadBalancersOptions } from './part-load-balancers.ts';
import type { Attributes, Begun, ListedPart, PartKind } from './part-kind.ts';

export const ME: Owner = { clusterId: 'cluster', uid: 'me' };
export const KINDS = ['address', 'pool', 'load-balancer', 'dns'] as const;
export type Kind = (typeof KINDS)[number];

export interface CloudPart {
  readonly id: string;
  readonly kind: Kind;
  readonly key: string | undefined;
  owner: Owner | undefined;
  attributes: Attributes;
  state: ListedPart['state'];
}

/** Which attribute of a kind names another part. */
const REFERENCES: Readonly<Record<Kind, readonly string[]>> = {
  address: [],
  pool: [],
  'load-balancer': ['addressId', 'poolIds'],
  dns: ['target'],
};

export class PartCloud {
  readonly parts: Map<string, CloudPart> = new Map();
  readonly isAsync: boolean;
  #next: number = 1;
  #isEven = false;

  constructor(isAsync: boolean) {
    this.isAsync = isAsync;
  }

  add(kind: Kind, owner: Owner | undefined, attributes: Attributes, key?: string): CloudPart {
    for (const id of referencesOf(kind, attributes)) {
      if (!this.parts.has(id)) throw new CloudError('invalid', `${kind}: there is no ${id}`);
    }
    const id = `${kind}-${this.#next++}`;
    const part: CloudPart = { id, kind, key, owner, attributes, state: this.isAsync ? 'pending' : 'ready' };
    this.parts.set(id, part);
    return part;
  }

  change(id: string, attributes: Attributes): void {
    const part = this.#get(id);
    if (part.state !== 'ready') throw new CloudError('conflict', `${id} is ${part.state}`);
    for (const other of referencesOf(part.kind, attributes)) this.#get(other);
    part.attributes = { ...part.attributes, ...attributes };
    if (this.isAsync) part.state = 'pending';
  }

  remove(id: string): void {
    const part = this.#get(id);
    for (const other of this.parts.values()) {
      if (referencesOf(other.kind, other.attributes).includes(id)) throw new CloudError('conflict', `${id} is in use`);
    }
    if (this.isAsync) part.state = 'deleting';
    else this.parts.delete(id);
  }

  /** What is under way ends, every second time. */
  tick(): void {
    this.#isEven = !this.#isEven;
    if (this.#isEven) return;
    for (const part of this.parts.values()) {
      if (part.state === 'deleting') this.parts.delete(part.id);
      if (part.state === 'pending') part.state = 'ready';
    }
  }

  #get(id: string): CloudPart {
    const part = this.parts.get(id);
    if (!part) throw new CloudError('not-found', `there is no ${id}`);
    return part;
  }
}

function referencesOf(kind: Kind, attributes: Attributes): readonly string[] {
  return REFERENCES[kind].flatMap((name) => (attributes[name] ?? []) as string | string[]);
}

const keyOfPort = ({ port, protocol }: { readonly port: number; readonly protocol: string }): string =>
  `${protocol}-${port}`;

/** Pools have members and follow the node ports; the load balancer's size is fixed; the record leads to it. */
export function kindsOf(cloud: PartCloud): readonly PartKind[] {
  const begun = (id: string): Begun | undefined => (cloud.isAsync ? { handle: id, pollAfterMs: 10 } : undefined);
  const common = (
    kind: Kind,
  ): Pick<PartKind, 'kind' | 'list' | 'create' | 'update' | 'delete' | 'read'> & Required<Pick<PartKind, 'claim'>> => ({
    kind,
    list: async () => [...cloud.parts.values()].filter((part) => part.kind === kind).map((part) => ({ ...part })),
    create: async ({ attributes, key, owner }) => {
      const isTaken = [...cloud.parts.values()].some(
        (part) =>
          part.kind === kind &&
          (part.key ?? '') === key &&
          part.owner?.uid === owner.uid &&
          part.owner.clusterId === owner.clusterId,
      );
      if (isTaken) throw new CloudError('conflict', `there is a ${kind} ${key} of this owner`);
      const { id } = cloud.add(kind, owner, attributes, key === '' ? undefined : key);
      return { id, begun: begun(id) };
    },
    update: async (id, { attributes }) => {
      cloud.change(id, attributes);
      return begun(id);
    },
    delete: async (id) => {
      cloud.remove(id);
      return begun(id);
    },
    claim: async (id, owner) => {
      const part = cloud.parts.get(id);
      if (part) part.owner = owner;
    },
    read: async (id) => {
      const part = cloud.parts.get(id);
      if (!part) throw new CloudError('not-found', `GET ${id}: 404`);
      return { ...part };
    },
  });
  const sizeOf = ({ service }: DesiredLoadBalancer): string => service.annotations['size'] ?? 'small';
  return [
    // Declared in no order: what they need says it.
    {
      ...common('dns'),
      needs: ['load-balancer'],
      wanted: ({ service }, there) => {
        const target = there('load-balancer')?.id;
        return target === undefined ? undefined : [{ attributes: { name: service.name, target } }];
      },
    },
    {
      ...common('load-balancer'),
      needs: ['address', 'pool'],
      fixed: ['size'],
      compare: {
        poolIds: (a, b) => new Set(a as string[]).symmetricDifference(new Set(b as string[])).size === 0,
      },
      wanted: (desired, there) => {
        const addressId = there('address')?.id;
        const pools = desired.service.ports.map((port) => there('pool', keyOfPort(port))?.id);
        if (addressId === undefined || pools.includes(undefined)) return undefined;
        return [{ attributes: { addressId, poolIds: pools, size: sizeOf(desired) } }];
      },
    },
    {
      ...common('pool'),
      wanted: ({ service }) => {
        if (sizeOf({ service } as DesiredLoadBalancer) === 'huge') throw new CloudError('invalid', 'size huge');
        return service.ports.map((port) => ({ key: keyOfPort(port), attributes: { port: port.port } }));
      },
      members: ({ backEnds, service }, key) => ({
        nodePort: service.ports.find((port) => keyOfPort(port) === key)?.nodePort,
        members: backEnds.map(({ node }) => node.name),
      }),
    },
    { ...common('address'), wanted: () => [{ attributes: {} }] },
  ];
}

export function loadBalancersOf(
  cloud: PartCloud,
  options: Partial<PartLoadBalancersOptions> = {},
  clock: Clock = new FakeClock(),
): LoadBalancers {
  return partLoadBalancers({
    host: { clock, cluster: { id: ME.clusterId, name: 'test' } },
    name: 'acme',
    kinds: kindsOf(cloud),
    isAsync: cloud.isAsync,
    classes: [],
    features: {},
    ...options,
  });
}

export function callOf(clock: FakeClock): CallContext {
  return hostWith(clock).callContext();
}

export function serviceOf(
  ports: readonly number[],
  size?: string,
  extra: Partial<LoadBalancerService> = {},
): LoadBalancerService {
  return {
    uid: ME.uid,
    namespace: 'default',
    name: 'web',
    labels: {},
    annotations: size === undefined ? {} : { size },
    ports: ports.map((port) => ({ name: `p${port}`, port, protocol: 'TCP', nodePort: 30_000 + port })),
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
    ...extra,
  };
}

export function desiredOf(
  service: LoadBalancerService,
  nodes: readonly string[] = ['a', 'b'],
  wanted = true,
): DesiredLoadBalancer {
  const backEnds = nodes.map((name): BackEnd => ({
    node: { name, uid: `uid-${name}`, providerID: `acme://${name}`, labels: {}, annotations: {} },
    addresses: [],
  }));
  return { service, wanted, owner: { ...ME, uid: service.uid }, backEnds };
}
