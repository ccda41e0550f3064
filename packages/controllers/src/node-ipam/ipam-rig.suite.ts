/** For tests: the range allocator over nodes in memory, on a clock that stands still, through restarts. */
import { noMetrics, silentLogger, StatusError, type EventNote, type Metrics, type Node } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { FakeNodeApi } from '../node/fake-node-api.suite.ts';
import type { UnmanagedRule } from '../unmanaged-nodes.ts';
import { readIpamRanges, type IpamRangeFlags } from './ipam-ranges.ts';
import { createRangeAllocator, type RangeAllocator } from './range-allocator.ts';

export class IpamRig implements AsyncDisposable {
  readonly clock: FakeClock = new FakeClock();
  readonly api: FakeNodeApi = new FakeNodeApi();
  readonly events: { readonly name: string; readonly note: EventNote }[] = [];
  readonly flags: IpamRangeFlags;
  metrics: Metrics = noMetrics;
  exclusive = false;
  unmanaged: readonly UnmanagedRule[] = [];
  /** Called before each request, and after each write took effect; throw for a failure. */
  beforeRequest: () => void = () => {};
  #ended = new AbortController();
  #running: Promise<void> | undefined;
  #allocator: RangeAllocator | undefined;
  #added = '';
  #uids = 0;

  constructor(flags: Partial<IpamRangeFlags> = {}) {
    this.flags = {
      clusterCidr: '10.0.0.0/21',
      nodeCidrMaskSize: 0,
      nodeCidrMaskSizeIpv4: 0,
      nodeCidrMaskSizeIpv6: 0,
      serviceClusterIpRange: '',
      ...flags,
    };
    this.api.before = ({ verb, name }) => {
      this.beforeRequest();
      // As the server: pod CIDRs are set once.
      if (verb === 'patch' && (this.api.nodes.get(name)?.spec?.podCIDRs?.length ?? 0) > 0) {
        throw new StatusError(`PATCH ${name}`, 422, { reason: 'Invalid', code: 422 });
      }
    };
  }

  join(name: string, podCIDRs: readonly string[] = [], managedFields: unknown[] = []): void {
    const spec = podCIDRs.length > 0 ? { podCIDR: podCIDRs[0] ?? '', podCIDRs: [...podCIDRs] } : {};
    const metadata = { name, uid: `uid-${this.#uids++}`, managedFields };
    this.api.put({ apiVersion: 'v1', kind: 'Node', metadata, spec });
  }

  /** As another allocator does. */
  give(name: string, ...podCIDRs: string[]): void {
    const node = this.api.nodes.get(name);
    if (node) this.api.put({ ...node, spec: { ...node.spec, podCIDR: podCIDRs[0] ?? '', podCIDRs } });
  }

  /** As after a relist from a server that is behind: the store does not see a node that is there. */
  loseFromStore(name: string): void {
    const node = this.api.nodes.get(name);
    if (!node) return;
    this.api.nodes.delete(name);
    this.api.publish();
    this.api.nodes.set(name, node);
  }

  async start(): Promise<void> {
    const { api, clock, exclusive, metrics, unmanaged } = this;
    this.#ended = new AbortController();
    this.#allocator = createRangeAllocator({
      client: api.client,
      store: api.store,
      events: { record: ({ metadata }, note) => void this.events.push({ name: metadata?.name ?? '', note }) },
      clock,
      logger: silentLogger,
      metrics,
      random: () => 0,
      ranges: readIpamRanges(this.flags),
      exclusive,
      unmanaged,
    });
    this.#running = this.#allocator.run(this.#ended.signal);
    if (this.#added !== '') this.#allocator.addRanges(this.#added);
    await this.settle();
  }

  /** As the program does when the file has changed. Throws what the allocator throws; then the old ones count. */
  addRanges(text: string): void {
    this.#allocator?.addRanges(text);
    this.#added = text;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#running;
  }

  async settle(): Promise<void> {
    for (let i = 0; i < 10; i++) await this.clock.settle();
  }

  async advance(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.settle();
  }

  cidrsOf(name: string): readonly string[] {
    return this.api.nodes.get(name)?.spec?.podCIDRs ?? [];
  }

  get given(): Readonly<Record<string, string>> {
    const entries = [...this.api.nodes].map(([name, { spec }]: [string, Node]) => [
      name,
      spec?.podCIDRs?.join(' ') ?? '',
    ]);
    return Object.fromEntries(entries) as Record<string, string>;
  }

  eventsOf(name: string): readonly string[] {
    return this.events.filter((event) => event.name === name).map(({ note }) => note.reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
