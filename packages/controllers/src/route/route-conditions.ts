/** Brings the condition `NetworkUnavailable` of each node to what is wanted, a few nodes at a time. */
import {
  createWorkQueue,
  exponentialBackoff,
  isConflict,
  isNotFound,
  runController,
  type Clock,
  type Logger,
  type Metrics,
  type Node,
  type ReconcileContext,
  type ResourceClient,
  type Store,
  type WorkQueue,
} from '@outrigger/kube';
import { statusPatch } from '../node/node-patch.ts';
import { subjectOf, type ControllerJournal } from '../journal.ts';
import { WrittenVersions } from '../written-versions.ts';
import { hasRouteCondition, routeCondition } from './network-condition.ts';

export interface RouteConditionsOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'patch'>;
  readonly store: Pick<Store<Node>, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly journal: ControllerJournal;
}

interface Wanted {
  readonly uid: string;
  readonly created: boolean;
}

export class RouteConditions {
  readonly #options: RouteConditionsOptions;
  readonly #queue: WorkQueue<string>;
  readonly #written = new WrittenVersions();
  /** By node name: whether its routes are there, as far as that is known. */
  readonly #wanted = new Map<string, Wanted>();

  constructor(options: RouteConditionsOptions) {
    const { clock, metrics, random } = options;
    this.#options = options;
    const rateLimiter = exponentialBackoff<string>({ baseMs: 50, maxMs: 300_000, random });
    this.#queue = createWorkQueue({ name: 'node-route', clock, metrics, rateLimiter });
  }

  /** Until the signal aborts. */
  async run(workers: number): Promise<void> {
    const { clock, logger, metrics, signal } = this.#options;
    const reconciler = { reconcile: (key: string, context: ReconcileContext) => this.#write(key, context) };
    try {
      await runController({
        name: 'node-route',
        queue: this.#queue,
        reconciler,
        workers,
        clock,
        logger,
        metrics,
        signal,
      });
    } finally {
      this.#queue.shutDown();
    }
  }

  /** Whether routes lead to the node is known now. */
  want(node: Node, created: boolean): void {
    const { name = '', uid = '' } = node.metadata ?? {};
    this.#wanted.set(name, { uid, created });
    this.check(name, node);
  }

  /** Another writer may have changed the condition: the node controller sets it on new nodes. */
  check(key: string, node: Node): void {
    const wanted = this.#wanted.get(key);
    if (wanted?.uid !== node.metadata?.uid || this.#written.isBehind(key, node)) return;
    if (wanted && !hasRouteCondition(node, wanted.created)) this.#queue.add(key);
    else this.#options.journal.plan({ kind: 'Node', name: key, uid: '' }, []);
  }

  forget(key: string): void {
    this.#options.journal.plan({ kind: 'Node', name: key, uid: '' }, []);
    this.#written.forget(key);
    this.#wanted.delete(key);
  }

  async #write(key: string, { signal, logger }: ReconcileContext): Promise<void> {
    const node = this.#options.store.get(key);
    const wanted = this.#wanted.get(key);
    if (!node || !wanted || wanted.uid !== node.metadata?.uid) return;
    if (this.#written.isBehind(key, node) || hasRouteCondition(node, wanted.created)) return;
    const conditions = [routeCondition(wanted.created, this.#options.clock.now())];
    const patch = statusPatch(node, { kind: 'patch-status', conditions });
    try {
      const options = { subresource: 'status', answer: 'metadata', signal } as const;
      const summary = `set its condition NetworkUnavailable to ${wanted.created ? 'False' : 'True'}`;
      const written = await this.#options.journal.perform(
        subjectOf('Node', node),
        [{ kind: 'set-condition', summary }],
        () => this.#options.nodes.patch({ name: key }, patch, options),
      );
      if (!written) return;
      const { metadata } = written;
      this.#written.note(key, metadata);
      logger.verbose(2, 'The condition of the node is written', { created: wanted.created });
    } catch (error) {
      // Another node of this name, or none: the store will say so.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
