/** A memory provider that is wrong on purpose, in one way, and the test that has to notice. */
import type {
  CallContext,
  Capabilities,
  CloudProvider,
  Instances,
  LoadBalancers,
  NodeTags,
  PodRanges,
  ProviderHost,
  Routes,
  VolumeTopology,
} from '@outrigger/cloud-provider';
import type { MemoryCloud } from '@outrigger/provider-memory';

export interface World {
  readonly host: ProviderHost;
  readonly cloud: MemoryCloud;
}

export interface Mutant {
  readonly name: string;
  /** The name of the test. */
  readonly killedBy: string;
  readonly change: (capabilities: Required<Capabilities>, world: World) => Partial<Capabilities>;
  /** How its cloud is reached. Default: `process`. */
  readonly over?: 'process' | 'http';
  /** Of the provider itself. */
  readonly provider?: (provider: CloudProvider) => Partial<CloudProvider>;
}

/** The same object with some members replaced; private fields stay the original's. */
export function withMembers<T extends object>(original: T, members: Partial<T>): T {
  return new Proxy(original, {
    has: (_, key) => key in members || key in original,
    get: (_, key) => {
      if (Object.hasOwn(members, key)) return members[key as keyof T];
      const member: unknown = Reflect.get(original, key, original);
      return typeof member === 'function' ? (member.bind(original) as unknown) : member;
    },
  });
}

type Part<T> = (original: T, world: World) => Partial<T>;

export const ofInstances = (name: string, killedBy: string, part: Part<Instances>): Mutant => ({
  name,
  killedBy: `instances / ${killedBy}`,
  change: ({ instances }, world) => (instances ? { instances: withMembers(instances, part(instances, world)) } : {}),
});

export const ofLoadBalancers = (name: string, killedBy: string, part: Part<LoadBalancers>): Mutant => ({
  name,
  killedBy: `load-balancers / ${killedBy}`,
  change: ({ loadBalancers }, world) =>
    loadBalancers ? { loadBalancers: withMembers(loadBalancers, part(loadBalancers, world)) } : {},
});

export const ofRoutes = (name: string, killedBy: string, part: Part<Routes>): Mutant => ({
  name,
  killedBy: `routes / ${killedBy}`,
  change: ({ routes }, world) => (routes ? { routes: withMembers(routes, part(routes, world)) } : {}),
});

export const ofVolumes = (name: string, killedBy: string, part: Part<VolumeTopology>): Mutant => ({
  name,
  killedBy: `volumes / ${killedBy}`,
  change: ({ volumes }, world) => (volumes ? { volumes: withMembers(volumes, part(volumes, world)) } : {}),
});

export const ofPodRanges = (name: string, killedBy: string, part: Part<PodRanges>): Mutant => ({
  name,
  killedBy: `pod-ranges / ${killedBy}`,
  change: ({ podRanges }, world) => (podRanges ? { podRanges: withMembers(podRanges, part(podRanges, world)) } : {}),
});

export const ofNodeTags = (name: string, killedBy: string, part: Part<NodeTags>): Mutant => ({
  name,
  killedBy: `node-tags / ${killedBy}`,
  change: ({ nodeTags }, world) => (nodeTags ? { nodeTags: withMembers(nodeTags, part(nodeTags, world)) } : {}),
});

/** Goes on for a while after it was told to stop. */
export async function lingering<T>(work: Promise<T>, call: CallContext, { host }: World): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (call.signal.aborted) await host.clock.sleep(20_000);
    throw error;
  }
}
