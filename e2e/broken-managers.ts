/** Managers that break one promise each: ours behind a `SpoilingApi`, or on a cloud that makes its mistakes for it. */
import { resources, type Client, type Node, type Service } from '@outrigger/kube';
import type { MemoryCloud } from '@outrigger/provider-memory';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';
import type { FullFixture } from './memory-cluster-fixture.ts';
import type { Spoilt } from './spoiling-api.ts';

export interface BrokenManager {
  /** What it does. */
  readonly name: string;
  /** The test that is named for it. */
  readonly caughtBy: string;
  /** What that test says. */
  readonly why: RegExp;
  readonly spoilt?: Spoilt;
  /** What it does besides, from the beginning of the run on, again and again. */
  readonly meddles?: (client: Client, namespace: string) => Promise<void>;
  /** Its mistakes, where they are about what the cloud says. */
  readonly fixture?: (whole: FullFixture, cloud: MemoryCloud) => Partial<FullFixture>;
}

const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
const EXCLUDED = 'node.kubernetes.io/exclude-from-external-load-balancers';
const FINALIZER = 'service.kubernetes.io/load-balancer-cleanup';
const GONE = 'memory://region-1/gone';

type Taints = NonNullable<NonNullable<Node['spec']>['taints']>;

function taintsOf({ spec }: Node): Taints {
  return spec?.taints ?? [];
}

function withTaints(node: Node, taints: Taints): Node {
  return { ...node, spec: { ...node.spec, taints } };
}

/** It would take the taint away; it stays. */
function keepsTaint(key: string): (before: Node, after: Node) => Node {
  return (before, after) => {
    const kept = taintsOf(before).filter((taint) => taint.key === key);
    if (kept.length === 0) return after;
    return withTaints(after, [...taintsOf(after).filter((taint) => taint.key !== key), ...kept]);
  };
}

function withLabels(node: Node, labels: Readonly<Record<string, string>>): Node {
  return { ...node, metadata: { ...node.metadata, labels } };
}

function keepsFinalizerWhen(holds: (service: Service) => boolean): (before: Service, after: Service) => Service {
  return (before, after) => {
    if (!before.metadata?.finalizers?.includes(FINALIZER) || !holds(before)) return after;
    return { ...after, metadata: { ...after.metadata, finalizers: before.metadata.finalizers } };
  };
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
}

/** What it takes the machine for: one that is gone. */
function asGone(node: Node): Node {
  return { ...node, spec: { ...node.spec, providerID: GONE } };
}

function withAddress(service: Service, ip: string): Service {
  return { ...service, status: { ...service.status, loadBalancer: { ingress: [{ ip, ipMode: 'VIP' }] } } };
}

function changedPort({ spec }: Service): boolean {
  return spec?.ports?.some(({ port }) => port === 8_080) ?? false;
}

let meddled = 0;

export const BROKEN_MANAGERS: readonly BrokenManager[] = [
  {
    name: 'never removes the uninitialized taint',
    caughtBy: 'nodes / the uninitialized taint is removed',
    why: /has no taint \S+uninitialized any more/u,
    spoilt: { nodes: { writes: keepsTaint(UNINITIALIZED_TAINT) } },
  },
  {
    name: 'forgets the provider ID',
    caughtBy: 'nodes / the provider ID is set',
    why: /spec\.providerID of node/u,
    spoilt: {
      nodes: {
        writes: (_before, { spec: { providerID: _id, ...spec } = {}, ...after }) => ({ ...after, spec }),
      },
    },
  },
  {
    name: 'removes the taint first and sets the provider ID later',
    caughtBy: 'nodes / the taint stays until the provider ID is set',
    why: /free for pods while it had no provider ID/u,
    spoilt: {
      nodes: {
        writes: (before, { spec: { providerID, ...spec } = {}, ...after }) => {
          const early = taintsOf(before).some(({ key }) => key === UNINITIALIZED_TAINT);
          return { ...after, spec: { ...spec, ...(!early && providerID !== undefined && { providerID }) } };
        },
      },
    },
  },
  {
    name: 'forgets the IPv6 address',
    caughtBy: 'nodes / the addresses are those of the machine',
    why: /has the addresses .*InternalIP fd00::1/u,
    spoilt: {
      nodes: {
        writes: (_before, after) => {
          const addresses = (after.status?.addresses ?? []).filter(({ address }) => !address.includes(':'));
          return { ...after, status: { ...after.status, addresses } };
        },
      },
    },
  },
  {
    name: 'forgets the label of the region',
    caughtBy: 'nodes / labels tell zone, region and instance type',
    why: /has the labels .*region=region-1/u,
    spoilt: {
      nodes: {
        writes: (_before, after) => {
          const { 'topology.kubernetes.io/region': _region, ...labels } = after.metadata?.labels ?? {};
          return { ...after, metadata: { ...after.metadata, labels } };
        },
      },
    },
  },
  {
    name: 'removes the taints of others',
    caughtBy: 'nodes / taints and labels of others are kept',
    why: /has lost the taint conformance/u,
    spoilt: { nodes: { writes: (_before, after) => withTaints(after, []) } },
  },
  {
    name: 'writes a node again and again',
    caughtBy: 'nodes / an initialised node is left as it is',
    why: /was changed again: labels/u,
    meddles: async (client) => {
      for (const { metadata, spec } of (await client.of(resources.nodes).list()).items) {
        if (spec?.providerID === undefined) continue;
        meddled++;
        const body = { metadata: { labels: { 'memory.test/seen': String(Math.floor(meddled / 20)) } } };
        await client.of(resources.nodes).patch({ name: metadata?.name ?? '' }, { type: 'merge', body });
      }
    },
  },
  {
    name: 'deletes nodes that are not ready',
    caughtBy: 'node-lifecycle / a node that is not ready is kept while its machine runs',
    why: /was deleted, although its machine runs/u,
    spoilt: { nodes: { sees: (node) => (isReady(node) ? node : asGone(node)) } },
  },
  {
    name: 'takes nodes of other clouds for its own',
    caughtBy: 'node-lifecycle / a node of another cloud is kept',
    why: /was deleted, although its provider ID/u,
    spoilt: {
      nodes: { sees: (node) => ((node.spec?.providerID ?? 'memory:').startsWith('memory:') ? node : asGone(node)) },
    },
  },
  {
    name: 'does not taint nodes of stopped machines',
    caughtBy: 'node-lifecycle / the node of a stopped machine is tainted',
    why: /has the taint \S+shutdown with effect/u,
    spoilt: {
      nodes: {
        writes: (_before, after) =>
          withTaints(
            after,
            taintsOf(after).filter(({ key }) => key !== SHUTDOWN_TAINT),
          ),
      },
    },
  },
  {
    name: 'deletes nodes of stopped machines',
    caughtBy: 'node-lifecycle / the node of a stopped machine is kept',
    why: /was deleted, although its machine is stopped/u,
    fixture: ({ deleteMachine }) => ({ stopMachine: deleteMachine }),
  },
  {
    name: 'keeps the shutdown taint for ever',
    caughtBy: 'node-lifecycle / the shutdown taint goes when the machine runs again',
    why: /has no taint \S+shutdown any more/u,
    spoilt: { nodes: { writes: keepsTaint(SHUTDOWN_TAINT) } },
  },
  {
    name: 'keeps nodes whose machines are gone',
    caughtBy: 'node-lifecycle / the node of a machine that is gone is deleted',
    why: /is deleted, as its machine is gone/u,
    spoilt: { nodes: { drops: 'delete' } },
  },
  {
    name: 'takes an error for the absence of a machine',
    caughtBy: 'node-lifecycle / a node is kept while the cloud answers errors',
    why: /was deleted, although the cloud could not tell/u,
    fixture: (_whole, cloud) => ({
      failCloud: () => {
        for (const { id } of cloud.instances()) cloud.deleteInstance(id);
        return Promise.resolve({ [Symbol.asyncDispose]: () => Promise.resolve() });
      },
    }),
  },
  {
    name: 'never sets an address',
    caughtBy: 'services / a load balancer gets an address',
    why: /gets an address/u,
    spoilt: {
      services: { writes: ({ status }, { status: _status, ...after }) => ({ ...after, ...(status && { status }) }) },
    },
  },
  {
    name: 'forgets the finalizer',
    caughtBy: 'services / the finalizer is there before the load balancer',
    why: /and no finalizer/u,
    spoilt: {
      services: {
        sees: (service) => ({ ...service, metadata: { ...service.metadata, finalizers: [FINALIZER] } }),
        writes: (_before, { metadata: { finalizers: _finalizers, ...metadata } = {}, ...after }) => ({
          ...after,
          metadata,
        }),
      },
    },
  },
  {
    name: 'tells nobody what it does',
    caughtBy: 'services / an Event tells that the load balancer is there',
    why: /there is an Event EnsuredLoadBalancer/u,
    spoilt: { events: { drops: 'create' } },
  },
  {
    name: 'never removes the finalizer',
    caughtBy: 'services / a deleted Service goes',
    why: /goes after its deletion/u,
    spoilt: {
      services: { writes: keepsFinalizerWhen(({ metadata }) => metadata?.deletionTimestamp !== undefined) },
    },
  },
  {
    name: 'removes the finalizer, and leaves the load balancer',
    caughtBy: 'services / the finalizer stays until nothing is left in the cloud',
    why: /is left in the cloud/u,
    spoilt: {
      services: { sees: (service) => (service.metadata?.deletionTimestamp === undefined ? service : undefined) },
    },
    meddles: async (client, namespace) => {
      const services = client.of(resources.services);
      for (const { metadata } of (await services.list({ namespace })).items) {
        if (metadata?.deletionTimestamp === undefined) continue;
        const body = { metadata: { finalizers: null } };
        await services.patch({ namespace, name: metadata.name ?? '' }, { type: 'merge', body });
      }
    },
  },
  {
    name: 'makes a load balancer of what is none any more',
    caughtBy: 'services / a Service that is no load balancer any more loses its address',
    why: /got the address \S+ again/u,
    meddles: async (client, namespace) => {
      const services = client.of(resources.services);
      for (const { metadata, spec } of (await services.list({ namespace })).items) {
        if (spec?.type !== 'ClusterIP' || metadata?.name !== 'retyped') continue;
        const body = { spec: { type: 'LoadBalancer' } };
        await services.patch({ namespace, name: metadata.name }, { type: 'merge', body });
      }
    },
  },
  {
    name: 'keeps the finalizer of what is no load balancer any more',
    caughtBy: 'services / a Service that is no load balancer any more loses its finalizer',
    why: /the finalizer \S+ is removed/u,
    spoilt: {
      services: {
        writes: keepsFinalizerWhen(
          ({ metadata, spec }) => spec?.type !== 'LoadBalancer' && metadata?.deletionTimestamp === undefined,
        ),
      },
    },
  },
  {
    name: 'serves Services of every class',
    caughtBy: 'services / a Service of another load balancer class is left alone',
    why: /although its class is/u,
    spoilt: {
      services: {
        sees: ({ spec: { loadBalancerClass: _class, ...spec } = {}, ...service }) => ({ ...service, spec }),
      },
    },
  },
  {
    name: 'serves Services of every type',
    caughtBy: 'services / a Service of another type is left alone',
    why: /although its type is NodePort/u,
    spoilt: {
      services: {
        sees: (service) =>
          service.spec?.type === 'NodePort' ? { ...service, spec: { ...service.spec, type: 'LoadBalancer' } } : service,
      },
    },
  },
  {
    name: 'makes a load balancer anew when a port changes',
    caughtBy: 'services / a changed port keeps the address',
    why: /became 203\.0\.113\.250/u,
    spoilt: {
      services: {
        sees: (service) => (changedPort(service) ? { ...service, status: {} } : service),
        writes: (before, after) => (changedPort(before) ? withAddress(after, '203.0.113.250') : after),
      },
    },
  },
  {
    name: 'sends the traffic of every Service through all nodes',
    caughtBy: 'services / externalTrafficPolicy Local keeps its health check node port',
    why: /spec\.healthCheckNodePort was \d+ and became/u,
    spoilt: {
      services: { sees: (service) => (service.spec?.externalTrafficPolicy === 'Local' ? undefined : service) },
    },
    meddles: async (client, namespace) => {
      const services = client.of(resources.services);
      for (const { metadata, spec } of (await services.list({ namespace })).items) {
        if (spec?.externalTrafficPolicy !== 'Local') continue;
        const body = { spec: { externalTrafficPolicy: 'Cluster', healthCheckNodePort: null } };
        await services.patch({ namespace, name: metadata?.name ?? '' }, { type: 'merge', body });
      }
    },
  },
  {
    name: 'says nothing of a Service without node ports',
    caughtBy: 'services / a Service without node ports gets an address, or a warning',
    why: /gets an address, or an Event that says why not/u,
    spoilt: {
      services: {
        sees: (service) => (service.spec?.allocateLoadBalancerNodePorts === false ? undefined : service),
      },
    },
  },
  {
    name: 'balances to no node',
    caughtBy: 'services / an initialised node becomes a back end',
    why: /is a back end/u,
    spoilt: { nodes: { sees: (node) => withLabels(node, { ...node.metadata?.labels, [EXCLUDED]: '' }) } },
  },
  {
    name: 'keeps excluded nodes as back ends',
    caughtBy: 'services / an excluded node is no back end',
    why: /is no back end/u,
    spoilt: {
      nodes: {
        sees: (node) => {
          const { [EXCLUDED]: _excluded, ...labels } = node.metadata?.labels ?? {};
          return withLabels(node, labels);
        },
      },
    },
  },
  {
    name: 'makes no routes',
    caughtBy: 'routes / a route leads to the pods of a node',
    why: /routes lead to/u,
    spoilt: {
      nodes: {
        sees: ({ spec: { podCIDR: _cidr, podCIDRs: _cidrs, ...spec } = {}, ...node }) => ({ ...node, spec }),
      },
    },
  },
  {
    name: 'keeps the routes of Nodes that are gone',
    caughtBy: 'routes / the routes of a Node go with it',
    why: /no route leads to/u,
    spoilt: { nodes: { misses: 'delete' } },
  },
  {
    name: 'does not say that the network is available',
    caughtBy: 'routes / the network of a node is told to be available',
    why: /NetworkUnavailable with status False/u,
    spoilt: {
      nodes: {
        writes: (_before, after) => {
          const conditions = (after.status?.conditions ?? []).filter(({ type }) => type !== 'NetworkUnavailable');
          return { ...after, status: { ...after.status, conditions } };
        },
      },
    },
  },
];
