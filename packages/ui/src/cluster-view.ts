/**
 * Keeps a feed up to date: nodes and Services by watches of the API server, and what the leader knows by its lists, as long as somebody
 * looks. What a source said last stays when it fails, with why and since when.
 */
import {
  listedKinds,
  type ExplanationList,
  type ExplainedKind,
  type ListedStanding,
} from '@outrigger/cloud-controller-manager';
import {
  asError,
  keyOfObject,
  noMetrics,
  resources,
  silentLogger,
  Stores,
  type Client,
  type Clock,
  type KubeObject,
  type Logger,
  type Node,
  type Service,
  type Store,
} from '@outrigger/kube';
import type { ClusterStatus, KnownObjects } from '@outrigger/status';
import { Budget } from './budget.ts';
import type { Feed } from './feed.ts';
import type { LeaderPages } from './leader-pages.ts';
import { itemsOf } from './overview.ts';
import { nodeRow, orphanRows, routeRows, serviceRow } from './rows.ts';
import type { NodeRow, ServiceRow, SourceState } from './view-types.ts';

export interface ClusterViewOptions {
  readonly feed: Feed;
  readonly client: Client;
  readonly leader: Pick<LeaderPages, 'ask' | 'url'>;
  /** URL of the API server. */
  readonly server: string;
  readonly clock: Clock;
  /** Judges the cluster. Default: the overview says that nobody does. */
  readonly collectStatus?: ((signal: AbortSignal, known: KnownObjects) => Promise<ClusterStatus>) | undefined;
}

const POLL_MS = 2_000;
/** A judgement reads more than the lists do. */
const STATUS_MS = 5_000;
/** Of what takes long, the pause after it is so many times as long. */
const PAUSE_SHARE = 10;

export class ClusterView {
  readonly #options: ClusterViewOptions;
  readonly #listed = new Map<ExplainedKind, ReadonlyMap<string, readonly ListedStanding[]>>();
  readonly #etags = new Map<ExplainedKind, string | undefined>();
  readonly #budget = new Budget();
  #stores: { readonly nodes: Store<Node>; readonly services: Store<Service> } | undefined;
  #apiError: string | undefined;
  #leaderAt = 0;
  #apiAt = 0;

  constructor(options: ClusterViewOptions) {
    this.#options = options;
    const { feed, server } = options;
    feed.fact('server', server);
    feed.fact('budget', []);
  }

  /** Until `signal` aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, clock } = this.#options;
    await using stores = new Stores({ client, clock, logger: this.#failures(), metrics: noMetrics });
    const nodes = stores.open(resources.nodes);
    const services = stores.open(resources.services);
    this.#stores = { nodes, services };
    const stops = [
      nodes.subscribe(({ key }) => this.#showNode(key)),
      services.subscribe(({ key }) => this.#showService(key)),
    ];
    try {
      await Promise.all([
        this.#every(POLL_MS, signal, () => this.#poll(signal)),
        this.#judgeOften(signal),
        this.#forgetGone(nodes, 'nodes', signal, (node) => this.#rowOfNode(node)),
        this.#forgetGone(services, 'services', signal, (service) => this.#rowOfService(service)),
      ]);
    } finally {
      for (const stop of stops) stop();
    }
  }

  /** What went while nobody looked is in the feed still, and no watch tells of it. */
  async #forgetGone<T extends KubeObject>(
    store: Store<T>,
    table: 'nodes' | 'services',
    signal: AbortSignal,
    rowOf: (object: T) => { readonly name: string } | undefined,
  ): Promise<void> {
    await store.whenSynced(signal).catch(() => {});
    if (!signal.aborted)
      this.#options.feed.replace(
        table,
        [...store.values()].flatMap((one) => rowOf(one) ?? []),
      );
  }

  async #every(periodMs: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    while (!signal.aborted) {
      const startedAt = clock.monotonic();
      await act();
      const pauseMs = Math.max(periodMs, PAUSE_SHARE * (clock.monotonic() - startedAt));
      await clock.sleep(pauseMs, signal).catch(() => {});
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    await Promise.all([this.#askLeader(signal), this.#askApi(signal)]);
  }

  async #askLeader(signal: AbortSignal): Promise<void> {
    const { clock, feed, leader } = this.#options;
    let error: string | undefined;
    try {
      // Each by itself: nothing of one is held back by another that is long.
      for (const kind of listedKinds) {
        const { body, etag } = await leader.ask(`/explain/${kind}/`, signal, this.#etags.get(kind));
        this.#etags.set(kind, etag);
        if (body !== undefined) this.#take(kind, body as ExplanationList);
      }
      this.#leaderAt = clock.now();
    } catch (thrown) {
      if (signal.aborted) return;
      // Whoever leads next may have lists of the same tag about another cluster's past.
      this.#etags.clear();
      error = asError(thrown).message;
    }
    const state: SourceState & { readonly url: string } = { at: this.#leaderAt, url: leader.url };
    feed.fact('leader', error === undefined ? state : { ...state, error });
  }

  #take(kind: ExplainedKind, { dryRun, items }: ExplanationList): void {
    const { feed } = this.#options;
    feed.fact('dryRun', dryRun);
    if (kind === 'route') feed.replace('routes', routeRows(items));
    if (kind === 'service' || kind === 'route') this.#showOrphans(kind, items);
    const before = this.#listed.get(kind);
    const now = Map.groupBy(
      items.filter(({ state }) => state !== 'orphan'),
      ({ name }) => name,
    );
    this.#listed.set(kind, now);
    if (kind === 'route') return;
    for (const name of new Set([...(before?.keys() ?? []), ...now.keys()])) {
      if (kind === 'node') this.#showNode(name);
      else this.#showService(name);
    }
  }

  /** What the watches have, once it is all. */
  readonly #known: KnownObjects = {
    nodes: () => allOf(this.#stores?.nodes),
    services: () => allOf(this.#stores?.services),
  };
  #orphans = new Map<string, ReturnType<typeof orphanRows>>();

  #showOrphans(kind: 'service' | 'route', items: readonly ListedStanding[]): void {
    this.#orphans.set(kind, orphanRows(kind, items));
    this.#options.feed.replace('orphans', [...this.#orphans.values()].flat());
  }

  #showNode(name: string): void {
    const { feed } = this.#options;
    const { nodes } = this.#stores ?? {};
    const node = nodes?.get(name);
    if (node) feed.set('nodes', this.#rowOfNode(node));
    // Before the first list is complete, absence says nothing.
    else if (nodes?.synced) feed.delete('nodes', name);
  }

  #showService(name: string): void {
    const { feed } = this.#options;
    const { services } = this.#stores ?? {};
    const service = services?.get(name);
    const row = service && this.#rowOfService(service);
    if (row) feed.set('services', row);
    else if (services?.synced) feed.delete('services', name);
  }

  #rowOfNode(node: Node): NodeRow {
    return nodeRow(node, this.#listed.get('node')?.get(node.metadata?.name ?? '') ?? []);
  }

  #rowOfService(service: Service): ServiceRow | undefined {
    return serviceRow(service, this.#listed.get('service')?.get(keyOfObject(service)) ?? []);
  }

  /** One small read says whether the API server answers; what of the watches has failed is known by then. */
  async #askApi(signal: AbortSignal): Promise<void> {
    const { client, clock, feed } = this.#options;
    let error: string | undefined;
    try {
      await client.of(resources.nodes).list({ limit: 1, signal });
      this.#apiAt = clock.now();
      if (!this.#stores?.services.synced) error = this.#apiError;
    } catch (thrown) {
      if (signal.aborted) return;
      error = asError(thrown).message;
    }
    const state = { at: this.#apiAt };
    feed.fact('api', error === undefined ? state : { ...state, error });
  }

  async #judgeOften(signal: AbortSignal): Promise<void> {
    const { clock, collectStatus, feed } = this.#options;
    if (!collectStatus) return;
    await this.#every(STATUS_MS, signal, async () => {
      try {
        const status = await collectStatus(signal, this.#known);
        feed.fact('problems', status.problems);
        feed.fact('items', itemsOf(status));
        feed.fact('budget', this.#budget.add(clock.now(), status.budget));
      } catch (thrown) {
        if (signal.aborted) return;
        feed.fact('items', [{ name: 'status', state: 'unknown', text: asError(thrown).message }]);
      }
    });
  }

  /** Watches say what fails to a log alone. */
  #failures(): Logger {
    const logger: Logger = {
      ...silentLogger,
      warn: (_message, { error } = {}) => {
        if (error instanceof Error) this.#apiError = error.message;
      },
      with: () => logger,
    };
    return logger;
  }
}

function allOf<T extends KubeObject>(store: Store<T> | undefined): readonly T[] | undefined {
  return store?.synced ? [...store.values()] : undefined;
}
