/**
 * The record of routes in a ConfigMap, so that it outlives the program. One key a provider, and beside it the cluster that has
 * written it: a backup may bring another cluster's.
 */
import { CloudError } from '@outrigger/cloud-provider';
import {
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  resources,
  type ApiRule,
  type Client,
  type Clock,
  type ConfigMap,
  type ResourceClient,
} from '@outrigger/kube';
import { RouteRecord } from './route-record.ts';

const REF = { name: 'outrigger-routes', namespace: 'kube-system' } as const;
/** Others write seldom, and each something else. */
const MOST_ATTEMPTS = 5;

export const routeRecordReadRule: ApiRule = {
  resource: resources.configMaps,
  verbs: ['get'],
  namespace: REF.namespace,
  names: [REF.name],
};

export const routeRecordRules: readonly ApiRule[] = [
  routeRecordReadRule,
  { resource: resources.configMaps, verbs: ['patch'], namespace: REF.namespace, names: [REF.name] },
  { resource: resources.configMaps, verbs: ['create'], namespace: REF.namespace },
];

export interface StoredRouteRecordOptions {
  readonly client: Pick<Client, 'of'>;
  readonly providerName: string;
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export class StoredRouteRecord {
  readonly record: RouteRecord = new RouteRecord();
  readonly #options: StoredRouteRecordOptions;
  readonly #configMaps: Pick<ResourceClient<ConfigMap>, 'get' | 'patch' | 'create'>;
  /** Version of the record that is stored. */
  #stored = 0;
  /** Of the ConfigMap, as we know it; `undefined`: there is none. */
  #resourceVersion: string | undefined;
  #saving: Promise<void> | undefined;

  constructor(options: StoredRouteRecordOptions) {
    this.#options = options;
    this.#configMaps = options.client.of(resources.configMaps);
  }

  /** Adds what is stored. Throws a `CloudError` when that cannot be read, and `not-owned` when it is another cluster's. */
  async load(): Promise<void> {
    const { clock, clusterId, providerName, signal } = this.#options;
    const isNew = this.record.version === this.#stored;
    const { data = {}, metadata = {} } = await this.#read(signal);
    const text = data[providerName];
    // A release before this wrote none.
    const storedBy = data[this.#clusterKey];
    if (storedBy !== undefined && storedBy !== clusterId) throw foreign(this.#clusterKey, storedBy, clusterId);
    this.#resourceVersion = metadata.resourceVersion;
    this.record.read(text ?? '', clock.monotonic());
    if (isNew && (text === undefined || storedBy !== undefined)) this.#stored = this.record.version;
  }

  get #clusterKey(): string {
    return `${this.#options.providerName}.cluster-id`;
  }

  async #read(signal: AbortSignal): Promise<ConfigMap> {
    try {
      return await this.#configMaps.get(REF, { signal });
    } catch (error) {
      if (isNotFound(error)) return {};
      throw failure('read', error);
    }
  }

  /** Whether there is something to save, and nobody saves it. */
  get isBehind(): boolean {
    return this.#stored < this.record.version && !this.#saving;
  }

  /** Resolves when everything that is noted by now is stored; throws a `CloudError` when it cannot be. */
  async save(): Promise<void> {
    const wanted = this.record.version;
    while (this.#stored < wanted) {
      // One write takes all that has gathered.
      this.#saving ??= this.#write().finally(() => (this.#saving = undefined));
      await this.#saving;
    }
  }

  async #write(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const { text, version } = this.record;
      try {
        this.#resourceVersion = await this.#put(text);
        this.#stored = version;
        return;
      } catch (error) {
        const isOthers = isConflict(error) || isAlreadyExists(error) || isNotFound(error);
        if (!isOthers || attempt === MOST_ATTEMPTS) throw failure('written', error);
        // Another provider's controller, or a former leader, whose lines count as well.
        await this.load();
      }
    }
  }

  /** Returns the new resourceVersion. Fails when somebody else has written since we read or wrote. */
  async #put(text: string): Promise<string | undefined> {
    const { clusterId, providerName, signal } = this.#options;
    const data = { [providerName]: text, [this.#clusterKey]: clusterId };
    const resourceVersion = this.#resourceVersion;
    if (resourceVersion === undefined) {
      const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...REF }, data };
      return (await this.#configMaps.create(configMap, { signal })).metadata?.resourceVersion;
    }
    const body = { metadata: { resourceVersion }, data };
    const answer = await this.#configMaps.patch(REF, { type: 'merge', body }, { signal, answer: 'metadata' });
    return answer.metadata.resourceVersion;
  }
}

function foreign(key: string, storedBy: string, clusterId: string): CloudError {
  const what = `the record of the cluster's routes, ConfigMap ${REF.namespace}/${REF.name}, belongs to another cluster: its ${key} is ${storedBy}`;
  const remedy = `delete the ConfigMap; or, if these routes are this cluster's now, set ${key} to ${clusterId}`;
  return new CloudError('not-owned', `${what}: ${remedy}`);
}

function failure(what: 'read' | 'written', cause: unknown): CloudError {
  const isRefused = isForbidden(cause);
  const remedy = isRefused ? ': grant it, as the roles of this release do' : '';
  const text = `the record of the cluster's routes, ConfigMap ${REF.namespace}/${REF.name}, could not be ${what}${remedy}`;
  return new CloudError(isRefused ? 'forbidden' : 'unavailable', text, { cause });
}
