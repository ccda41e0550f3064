/** The record of routes in a ConfigMap, so that it outlives the program. One key a provider. */
import { CloudError } from '@outrigger/cloud-provider';
import {
  isAlreadyExists,
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
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export class StoredRouteRecord {
  readonly record: RouteRecord = new RouteRecord();
  readonly #options: StoredRouteRecordOptions;
  readonly #configMaps: Pick<ResourceClient<ConfigMap>, 'get' | 'patch' | 'create'>;
  /** Version of the record that is stored. */
  #stored = 0;
  #saving: Promise<void> | undefined;

  constructor(options: StoredRouteRecordOptions) {
    this.#options = options;
    this.#configMaps = options.client.of(resources.configMaps);
  }

  /** Adds what is stored. Throws when that cannot be read. */
  async load(): Promise<void> {
    const { clock, providerName, signal } = this.#options;
    const isNew = this.record.version === this.#stored;
    try {
      const { data } = await this.#configMaps.get(REF, { signal });
      this.record.read(data?.[providerName] ?? '', clock.monotonic());
    } catch (error) {
      if (!isNotFound(error)) throw failure('read', error);
    }
    if (isNew) this.#stored = this.record.version;
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
    const { providerName, signal } = this.#options;
    const { text, version } = this.record;
    const data = { [providerName]: text };
    try {
      await this.#configMaps.patch(REF, { type: 'merge', body: { data } }, { signal });
    } catch (error) {
      if (!isNotFound(error)) throw failure('written', error);
      await this.#create(data);
    }
    this.#stored = version;
  }

  async #create(data: Readonly<Record<string, string>>): Promise<void> {
    const { signal } = this.#options;
    const configMap: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...REF }, data: { ...data } };
    try {
      await this.#configMaps.create(configMap, { signal });
    } catch (error) {
      // Another provider's controller was first.
      if (!isAlreadyExists(error)) throw failure('written', error);
      await this.#configMaps.patch(REF, { type: 'merge', body: { data } }, { signal });
    }
  }
}

function failure(what: 'read' | 'written', cause: unknown): CloudError {
  const isRefused = isForbidden(cause);
  const remedy = isRefused ? ': allow it, as the roles of this release do' : '';
  const text = `the record of the cluster's routes, ConfigMap ${REF.namespace}/${REF.name}, could not be ${what}${remedy}`;
  return new CloudError(isRefused ? 'forbidden' : 'unavailable', text, { cause });
}
