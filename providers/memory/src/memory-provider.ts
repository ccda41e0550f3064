/** The provider of the memory cloud. */
import {
  CloudError,
  type CallContext,
  type Capabilities,
  type CloudProvider,
  type ConfigText,
  type ProviderHost,
} from '@outrigger/cloud-provider';
import { handleRequest } from './cloud-api.ts';
import { CloudClient, sendOverHttp } from './cloud-client.ts';
import type { MemoryInstance, NewInstance } from './cloud-model.ts';
import { createMemoryCloud, type MemoryCloud } from './memory-cloud.ts';
import { MemoryInstances } from './memory-instances.ts';
import { loadBalancerParts, MemoryLoadBalancers, type PartKind } from './memory-load-balancers.ts';
import { MemoryPodRanges } from './memory-pod-ranges.ts';
import { MemoryRoutes } from './memory-routes.ts';
import { MemoryVolumes } from './memory-volumes.ts';

/** The cloud config: JSON. */
interface Config {
  /** Where `serveMemoryCloud` listens. Without it, the provider has a cloud of its own. */
  readonly endpoint?: string;
  /** What a cloud of its own begins with. */
  readonly instances?: readonly NewInstance[];
  /** What a load balancer is made of, in this order; with `load-balancer` at least. Default: all four. */
  readonly loadBalancerParts?: readonly PartKind[];
  /** Whether it hints which instances have changed, by a long poll. Default: false. */
  readonly hints?: boolean;
  /** What instances of nodes get. Default: nothing. */
  readonly nodeTags?: MemoryInstance['tags'];
}

export interface MemoryProviderOptions {
  /** Talks to this cloud in process, whatever the cloud config says. */
  readonly cloud?: MemoryCloud;
  /** The prefix of its provider IDs, and its load balancer class: `outrigger.dev/<name>`. Default: `memory`. */
  readonly name?: string;
}

export function createMemoryProvider({ cloud, name = 'memory' }: MemoryProviderOptions = {}): CloudProvider {
  let client: CloudClient | undefined;
  const current = (): CloudClient => {
    if (!client) throw new CloudError('unavailable', 'the memory provider is not open');
    return client;
  };
  const open = async ({ clock, cluster, config }: ProviderHost): Promise<Capabilities> => {
    const parsed = parseConfig(config);
    const own = cloud ?? createOwnCloud(parsed, clock);
    client = own ? inProcess(own, parsed) : overHttp(parsed);
    const instances = new MemoryInstances(current, name, parsed);
    return {
      instances,
      routes: new MemoryRoutes(current, cluster, name),
      volumes: new MemoryVolumes(current),
      podRanges: new MemoryPodRanges(current),
      nodeTags: instances,
      loadBalancers: new MemoryLoadBalancers(current, cluster, name, partsOf(parsed)),
    };
  };
  return {
    name,
    buckets: [],
    checkConfig: async (config) => void parseConfig(config),
    open,
    reconfigure: async (config: ConfigText, _call: CallContext) => {
      const parsed = parseConfig(config);
      if (parsed.endpoint === undefined) {
        throw new CloudError(
          'configuration',
          `${config.fileName}: a cloud in process cannot be changed; give an endpoint`,
        );
      }
      client = overHttp(parsed);
    },
    close: () => Promise.resolve(),
  };
}

function inProcess(cloud: MemoryCloud, { nodeTags }: Config): CloudClient {
  const client = new CloudClient((request, signal) => handleRequest(cloud, request, signal), 'in process', nodeTags);
  // There is no other that a mistake could lead to.
  client.home.sawById();
  return client;
}

function createOwnCloud(config: Config, clock: ProviderHost['clock']): MemoryCloud | undefined {
  if (config.endpoint !== undefined) return undefined;
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  for (const instance of config.instances ?? []) cloud.createInstance(instance);
  return cloud;
}

function overHttp(config: Config): CloudClient {
  const endpoint = endpointOf(config);
  return new CloudClient(sendOverHttp(endpoint), endpoint, config.nodeTags);
}

function endpointOf({ endpoint = '' }: Config): string {
  return endpoint.replace(/\/+$/, '');
}

function parseConfig(config: ConfigText | undefined): Config {
  if (!config || config.text.trim() === '') return {};
  const refuse = (why: string, cause?: unknown): CloudError =>
    new CloudError('configuration', `${config.fileName}: ${why}`, { cause });
  let parsed: unknown;
  try {
    parsed = JSON.parse(config.text);
  } catch (error) {
    throw refuse('must be JSON', error);
  }
  if (!isObject(parsed)) throw refuse('must be a JSON object');
  const { endpoint, hints, instances, loadBalancerParts: parts, nodeTags = {}, ...others } = parsed;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined)
    throw refuse(`unknown key ${unknown}; known are endpoint, hints, instances, loadBalancerParts and nodeTags`);
  if (
    endpoint !== undefined &&
    !(typeof endpoint === 'string' && /^https?:\/\//.test(endpoint) && URL.canParse(endpoint))
  ) {
    throw refuse('endpoint must be an http:// URL');
  }
  if (
    instances !== undefined &&
    !(Array.isArray(instances) && instances.every((item: NewInstance) => typeof item?.name === 'string'))
  ) {
    throw refuse('instances must be a list of objects with a name');
  }
  if (hints !== undefined && typeof hints !== 'boolean') throw refuse('hints must be true or false');
  if (!(isObject(nodeTags) && Object.values(nodeTags).every((one) => typeof one === 'string')))
    throw refuse('nodeTags must be an object of strings');
  const ids = ((instances ?? []) as readonly NewInstance[]).map(({ id, name }) => id ?? name);
  const twice = ids.find((id, i) => ids.indexOf(id) < i);
  if (twice !== undefined) throw refuse(`instances: ${twice} is there twice`);
  const kinds: readonly string[] = loadBalancerParts;
  if (
    parts !== undefined &&
    !(Array.isArray(parts) && parts.includes('load-balancer') && parts.every((part: string) => kinds.includes(part)))
  ) {
    throw refuse(`loadBalancerParts must be a list of ${kinds.join(', ')}; load-balancer is never left out`);
  }
  return parsed;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function partsOf({ loadBalancerParts: wanted = loadBalancerParts }: Config): readonly PartKind[] {
  return loadBalancerParts.filter((kind) => wanted.includes(kind));
}
