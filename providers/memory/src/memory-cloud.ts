/** A cloud in memory: what there is in it, how it behaves, and who asked what. `handleRequest` is its API. */
import type { Clock, Owner } from '@outrigger/cloud-provider';
import type {
  CloudCall,
  FaultRule,
  MemoryCloudSettings,
  MemoryInstance,
  MemoryPart,
  MemoryRoute,
  MemoryVolume,
  NewInstance,
  NewRoute,
  NewVolume,
} from './cloud-model.ts';
import { Refusal } from './cloud-request.ts';
import { Faults, RateLimit } from './faults.ts';
import { overlap, sameRanges } from './pod-ranges.ts';
import { VersionedMap } from './versioned-map.ts';

export interface MemoryCloudOptions {
  readonly clock: Clock;
  /** 0 ≤ x < 1, for faults with a probability. Give a seeded one to get the same failures again. */
  readonly random: () => number;
  /** Default: `region-1`. */
  readonly region?: string;
  /** New instances are spread over them. Default: `zone-a`, `zone-b`, `zone-c`. */
  readonly zones?: readonly string[];
  readonly settings?: Partial<MemoryCloudSettings>;
}

const DEFAULT_SETTINGS: MemoryCloudSettings = {
  latencyMs: 0,
  quota: {},
  loadBalancerDelayMs: 0,
  listLagMs: 0,
  readLagMs: 0,
};
const REMEMBERED_CALLS = 1000;

/** How long a question about changes waits for one. */
const CHANGES_HELD_MS = 20_000;
const REMEMBERED_CHANGES = 1000;

export class MemoryCloud {
  readonly clock: Clock;
  readonly region: string;
  readonly zones: readonly string[];
  readonly faults: Faults;
  readonly rateLimit: RateLimit;
  readonly #instances = new VersionedMap<MemoryInstance>();
  readonly #deletedInstances = new Set<string>();
  readonly #routes = new VersionedMap<MemoryRoute>();
  readonly #parts = new VersionedMap<MemoryPart>();
  readonly #volumes = new VersionedMap<MemoryVolume>();
  /** Of load balancers; monotonic. */
  readonly #readyAt = new Map<string, number>();
  /** The instances that have changed, the last of them at `#changes`. */
  readonly #changed: { readonly providerID: string; readonly name: string }[] = [];
  #changes = 0;
  readonly #waiting = new Set<() => void>();
  #settings: MemoryCloudSettings;
  #made = 0;
  #calls: CloudCall[] = [];
  #counts = new Map<string, number>();

  constructor({
    clock,
    random,
    region = 'region-1',
    zones = ['zone-a', 'zone-b', 'zone-c'],
    settings,
  }: MemoryCloudOptions) {
    this.clock = clock;
    this.region = region;
    this.zones = zones;
    this.faults = new Faults(random);
    this.rateLimit = new RateLimit(clock);
    this.#settings = { ...DEFAULT_SETTINGS, ...settings };
  }

  get settings(): MemoryCloudSettings {
    return this.#settings;
  }

  configure(settings: Partial<MemoryCloudSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
  }

  setFaults(rules: readonly FaultRule[]): void {
    this.faults.set(rules);
  }

  /** Makes an instance. Throws a `Refusal` 409 when the ID is taken, `quota` when there are too many. */
  createInstance(given: NewInstance): MemoryInstance {
    const id = given.id ?? given.name;
    const now = this.clock.monotonic();
    if (this.#instances.get(id, now)) throw new Refusal(409, 'conflict', `there is an instance ${id}`);
    this.#checkQuota('instances', this.#instances.list(now).length);
    const number = this.#made++;
    const region = given.region ?? this.region;
    const zone = given.zone ?? this.zones[number % this.zones.length] ?? 'zone-a';
    const instance: MemoryInstance = {
      state: 'running',
      type: 'memory.small',
      labels: {},
      tags: {},
      podCidrs: [],
      addresses: [
        { type: 'InternalIP', address: internalIP(number) },
        { type: 'Hostname', address: given.name },
      ],
      ...given,
      id,
      region,
      zone,
      providerID: `memory://${region}/${id}`,
    };
    this.#put(this.#instances, id, instance);
    this.#noteChange(instance);
    return instance;
  }

  /** `false` when there is none. */
  deleteInstance(id: string): boolean {
    const instance = this.#instances.get(id, this.clock.monotonic());
    if (!instance) return false;
    this.#put(this.#instances, id, undefined);
    this.#noteChange(instance);
    this.#deletedInstances.add(id);
    return true;
  }

  /** Whether an instance of this ID was there, and was deleted. */
  hadInstance(id: string): boolean {
    return this.#deletedInstances.has(id);
  }

  /** Changes an instance; its identity stays. Throws a `Refusal` 404. */
  updateInstance(id: string, changes: Partial<Omit<MemoryInstance, 'id' | 'providerID'>>): MemoryInstance {
    const instance = this.#instances.get(id, this.clock.monotonic());
    if (!instance) throw new Refusal(404, 'not-found', `there is no instance ${id}`);
    const changed = { ...instance, ...changes, id, providerID: instance.providerID };
    this.#put(this.#instances, id, changed);
    this.#noteChange(changed);
    return changed;
  }

  /** Gives an instance that has none these ranges; a `Refusal` when it has others, or another one has a part of them. */
  assignPodCidrs(id: string, podCidrs: readonly string[]): { readonly changed: boolean } {
    const instances = this.#instances.list(this.clock.monotonic());
    const instance = instances.find((one) => one.id === id);
    if (!instance) throw new Refusal(404, 'not-found', `there is no instance ${id}`);
    if (sameRanges(instance.podCidrs, podCidrs)) return { changed: false };
    if (instance.podCidrs.length > 0) {
      throw new Refusal(409, 'conflict', `${id} has the pod ranges ${instance.podCidrs.join(', ')} already`);
    }
    const holder = instances.find((one) => one.podCidrs.some((range) => podCidrs.some((cidr) => overlap(range, cidr))));
    if (holder) throw new Refusal(409, 'conflict', `${holder.id} has a part of ${podCidrs.join(', ')}`);
    this.updateInstance(id, { podCidrs });
    return { changed: true };
  }

  /** What has changed since the answer whose `next` this is, or since now; waits for a change where there is none, 20 s at most. */
  async changesSince(
    since: number | undefined,
    signal: AbortSignal,
  ): Promise<{ readonly next: number; readonly instances: readonly object[] }> {
    const from = since ?? this.#changes;
    if (from >= this.#changes) {
      const change = Promise.withResolvers<void>();
      this.#waiting.add(change.resolve);
      const enough = new AbortController();
      const held = this.clock.sleep(CHANGES_HELD_MS, AbortSignal.any([signal, enough.signal])).catch(() => undefined);
      await Promise.race([change.promise, held]);
      enough.abort();
      this.#waiting.delete(change.resolve);
      signal.throwIfAborted();
    }
    const news = Math.max(0, this.#changes - from);
    return { next: this.#changes, instances: news === 0 ? [] : this.#changed.slice(-news) };
  }

  /** Questions about changes that wait for one. */
  get asksForChanges(): number {
    return this.#waiting.size;
  }

  instance(id: string): MemoryInstance | undefined {
    return this.#instances.get(id, this.clock.monotonic() - this.#settings.readLagMs);
  }

  instances(): readonly MemoryInstance[] {
    return this.#instances.list(this.clock.monotonic() - this.#settings.listLagMs);
  }

  /** The instance as it is, however the lists lag. */
  liveInstance(id: string): MemoryInstance | undefined {
    return this.#instances.get(id, this.clock.monotonic());
  }

  routes(): readonly MemoryRoute[] {
    return this.#routes.list(this.clock.monotonic() - this.#settings.listLagMs);
  }

  /** Makes a route: the same again when it is there already, a `Refusal` when its destination leads elsewhere. */
  createRoute(given: NewRoute): { readonly route: MemoryRoute; readonly created: boolean } {
    const now = this.clock.monotonic();
    const routes = this.#routes.list(now);
    const there = routes.find(({ destination }) => destination === given.destination);
    if (there?.instanceId === given.instanceId && there.clusterId === given.clusterId)
      return { route: there, created: false };
    if (there) throw new Refusal(409, 'conflict', `${given.destination} leads to ${there.instanceId} already`);
    const instance = this.#instances.get(given.instanceId, now);
    if (!instance) throw new Refusal(404, 'not-found', `there is no instance ${given.instanceId}`);
    this.#checkQuota('routes', routes.length);
    const route = { ...given, providerID: instance.providerID, id: `route-${this.#made++}` };
    this.#put(this.#routes, route.id, route);
    return { route, created: true };
  }

  deleteRoute(id: string): boolean {
    if (!this.#routes.get(id, this.clock.monotonic())) return false;
    this.#put(this.#routes, id, undefined);
    return true;
  }

  volumes(): readonly MemoryVolume[] {
    return this.#volumes.list(this.clock.monotonic() - this.#settings.listLagMs);
  }

  /** Makes a volume. Throws a `Refusal` 409 when the ID is taken, 400 for one that would be nowhere. */
  createVolume(given: NewVolume): MemoryVolume {
    const { id, region = this.region, zones = [this.zones[this.#made++ % this.zones.length] ?? 'zone-a'] } = given;
    if (this.#volumes.get(id, this.clock.monotonic())) throw new Refusal(409, 'conflict', `there is a volume ${id}`);
    if (zones.length === 0) throw new Refusal(400, 'invalid', `the volume ${id} needs a zone`);
    const volume = { id, region, zones };
    this.#put(this.#volumes, id, volume);
    return volume;
  }

  /** `false` when there is none. */
  deleteVolume(id: string): boolean {
    if (!this.#volumes.get(id, this.clock.monotonic())) return false;
    this.#put(this.#volumes, id, undefined);
    return true;
  }

  parts(): readonly MemoryPart[] {
    return this.#parts.list(this.clock.monotonic() - this.#settings.listLagMs).map((part) => this.#withState(part));
  }

  part(id: string): MemoryPart | undefined {
    const part = this.#parts.get(id, this.clock.monotonic() - this.#settings.readLagMs);
    return part && this.#withState(part);
  }

  /** The only one of this kind with this owner's tags. */
  partOf(kind: string, { clusterId, uid }: Owner): MemoryPart | undefined {
    const isAsked = ({ kind: other, tags }: MemoryPart): boolean =>
      other === kind && tags['clusterId'] === clusterId && tags['uid'] === uid;
    const part = this.#parts.list(this.clock.monotonic() - this.#settings.readLagMs).find(isAsked);
    return part && this.#withState(part);
  }

  #withState(part: MemoryPart): MemoryPart {
    const readyAt = this.#readyAt.get(part.id) ?? 0;
    return { ...part, state: this.clock.monotonic() < readyAt ? 'pending' : 'ready' };
  }

  /** Makes a part. With the tags and kind of one that is there, gives that one: a repeated request makes nothing twice. */
  createPart(given: Omit<MemoryPart, 'id'>): MemoryPart {
    const parts = this.#parts.list(this.clock.monotonic());
    const tags = JSON.stringify(given.tags);
    const there = parts.find((part) => part.kind === given.kind && JSON.stringify(part.tags) === tags);
    if (there) return this.#withState(there);
    this.#checkQuota('parts', parts.length);
    const number = this.#made++;
    const id = `${given.kind}-${number}`;
    // Who has no address made for it first gets one with its load balancer.
    const needsIP =
      given.kind === 'address' || (given.kind === 'load-balancer' && given.attributes['ip'] === undefined);
    const made = needsIP ? { ip: `203.0.113.${(number % 254) + 1}` } : {};
    const part = { ...given, id, attributes: { ...given.attributes, ...made } };
    this.#put(this.#parts, id, part);
    this.#beginWork(part);
    return this.#withState(part);
  }

  /** Attributes are added to those that are there; tags take their place. */
  updatePart(
    id: string,
    { attributes, tags }: { readonly attributes?: MemoryPart['attributes']; readonly tags?: MemoryPart['tags'] },
  ): MemoryPart {
    const part = this.#parts.get(id, this.clock.monotonic());
    if (!part) throw new Refusal(404, 'not-found', `there is no part ${id}`);
    const changed = { ...part, tags: tags ?? part.tags, attributes: { ...part.attributes, ...attributes } };
    this.#put(this.#parts, id, changed);
    if (attributes) this.#beginWork(changed);
    return this.#withState(changed);
  }

  /** A load balancer serves as it was told only a while later. */
  #beginWork({ id, kind }: MemoryPart): void {
    if (kind === 'load-balancer') this.#readyAt.set(id, this.clock.monotonic() + this.#settings.loadBalancerDelayMs);
  }

  deletePart(id: string): boolean {
    if (!this.#parts.get(id, this.clock.monotonic())) return false;
    this.#put(this.#parts, id, undefined);
    this.#readyAt.delete(id);
    return true;
  }

  note(operation: string, status: number): void {
    this.#counts.set(operation, (this.#counts.get(operation) ?? 0) + 1);
    this.#calls.push({ operation, status, at: this.clock.now() });
    if (this.#calls.length > 2 * REMEMBERED_CALLS) this.#calls = this.#calls.slice(-REMEMBERED_CALLS);
  }

  /** Requests to the API since the start or `resetCalls`, by operation, and the last of them. Control requests do not count. */
  calls(): {
    readonly total: number;
    readonly byOperation: Readonly<Record<string, number>>;
    readonly last: readonly CloudCall[];
  } {
    const byOperation = Object.fromEntries(this.#counts);
    const total = [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
    return { total, byOperation, last: this.#calls.slice(-REMEMBERED_CALLS) };
  }

  resetCalls(): void {
    this.#calls = [];
    this.#counts = new Map();
  }

  #noteChange({ name, providerID }: MemoryInstance): void {
    this.#changes++;
    this.#changed.push({ name, providerID });
    if (this.#changed.length > REMEMBERED_CHANGES) this.#changed.shift();
    for (const wake of this.#waiting) wake();
  }

  #put<T>(map: VersionedMap<T>, id: string, value: T | undefined): void {
    const { listLagMs, readLagMs } = this.#settings;
    map.set(id, value, this.clock.monotonic(), Math.max(listLagMs, readLagMs));
  }

  #checkQuota(kind: 'instances' | 'routes' | 'parts', count: number): void {
    const most = this.#settings.quota[kind];
    if (most !== undefined && count >= most) throw new Refusal(403, 'quota', `the quota of ${most} ${kind} is reached`);
  }
}

export function createMemoryCloud(options: MemoryCloudOptions): MemoryCloud {
  return new MemoryCloud(options);
}

function internalIP(number: number): string {
  return `10.${128 + (number >> 16)}.${(number >> 8) & 255}.${number & 255}`;
}
