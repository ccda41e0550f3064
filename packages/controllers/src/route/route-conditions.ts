/** Brings the condition `NetworkUnavailable` of each node to what is wanted, a few nodes at a time, and gives way to who asserts another. */
import {
  createWorkQueue,
  exponentialBackoff,
  isConflict,
  isNotFound,
  runController,
  type Clock,
  type ControllerOptions,
  type EventRecorder,
  type Logger,
  type Metrics,
  type Node,
  type ReconcileContext,
  type ReconcileResult,
  type ResourceClient,
  type Store,
  type WorkQueue,
} from '@outrigger/kube';
import { statusPatch } from '../node/node-patch.ts';
import { subjectOf, type ControllerJournal } from '../journal.ts';
import { afterWrite, reviewField, type FieldState } from '../contested-field.ts';
import { tellSetAside } from '../set-aside.ts';
import { tellContested } from '../tell-contested.ts';
import type { ToldEvents } from '../told-events.ts';
import { WrittenVersions } from '../written-versions.ts';
import { conditionPath, hasRouteCondition, routeCondition, routeStatus, routeStatusOf } from './network-condition.ts';

export interface RouteConditionsOptions {
  readonly nodes: Pick<ResourceClient<Node>, 'get' | 'patch'>;
  readonly store: Pick<Store<Node>, 'get'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly random: () => number;
  readonly signal: AbortSignal;
  readonly journal: ControllerJournal;
  readonly told: ToldEvents;
  readonly events: EventRecorder;
  /** Default: that of the process. */
  readonly processorTime?: ControllerOptions<string>['processorTime'];
}

interface Wanted {
  readonly uid: string;
  readonly created: boolean;
}

export class RouteConditions {
  readonly #options: RouteConditionsOptions;
  readonly #queue: WorkQueue<string>;
  readonly #written: WrittenVersions;
  /** By node name: whether its routes are there, as far as that is known. */
  readonly #wanted = new Map<string, Wanted>();
  /** By node name: what was written, and undone by others. */
  readonly #fields = new Map<string, FieldState>();

  constructor(options: RouteConditionsOptions) {
    const { clock, metrics, random, signal } = options;
    this.#options = options;
    this.#written = new WrittenVersions({ clock, signal, onBelieved: (key) => this.#queue.add(key) });
    const rateLimiter = exponentialBackoff<string>({ baseMs: 50, maxMs: 300_000, random });
    this.#queue = createWorkQueue({ name: 'node-route-controller', clock, metrics, rateLimiter });
  }

  /** Until the signal aborts. */
  async run(workers: number): Promise<void> {
    const { clock, logger, metrics, processorTime, signal } = this.#options;
    const reconciler = { reconcile: (key: string, context: ReconcileContext) => this.#reconcile(key, context) };
    try {
      await runController({
        name: 'node-route-controller',
        queue: this.#queue,
        reconciler,
        workers,
        clock,
        logger,
        metrics,
        signal,
        onSetAside: tellSetAside(this.#options.store, this.#options.events),
        ...(processorTime && { processorTime }),
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
    this.#fields.delete(key);
  }

  async #reconcile(key: string, context: ReconcileContext): Promise<ReconcileResult | void> {
    const node = this.#options.store.get(key);
    const wanted = this.#wanted.get(key);
    if (!node || !wanted || wanted.uid !== node.metadata?.uid || this.#written.isBehind(key, node)) return undefined;
    const now = this.#options.clock.monotonic();
    const review = reviewField(this.#fields.get(key), {
      wanted: routeStatus(wanted.created),
      observed: routeStatusOf(node),
      now,
    });
    if (review.state) this.#fields.set(key, review.state);
    else this.#fields.delete(key);
    if (review.isContested) {
      const read = (): Promise<Node> => this.#options.nodes.get({ name: key }, { signal: context.signal });
      const contested = { field: 'condition NetworkUnavailable', path: conditionPath, read };
      await tellContested(node, contested, this.#options.told, context);
    }
    const { verdict } = review;
    if (verdict.kind === 'wait') return { requeueAfterMs: verdict.atMs - now };
    if (verdict.kind === 'write') await this.#write(key, { node, wanted, context });
    return undefined;
  }

  async #write(
    key: string,
    { node, wanted, context }: { readonly node: Node; readonly wanted: Wanted; readonly context: ReconcileContext },
  ): Promise<void> {
    const { signal, logger } = context;
    const conditions = [routeCondition(wanted.created, this.#options.clock.now())];
    const patch = statusPatch(node, { kind: 'patch-status', conditions });
    try {
      const options = { subresource: 'status', answer: 'metadata', signal } as const;
      const summary = `set its condition NetworkUnavailable to ${routeStatus(wanted.created)}`;
      const written = await this.#options.journal.perform(
        subjectOf('Node', node),
        [{ kind: 'set-condition', summary, write: { object: node, patch } }],
        () => this.#options.nodes.patch({ name: key }, patch, options),
      );
      if (!written) return;
      const { metadata } = written;
      this.#written.note(key, metadata);
      const { clock } = this.#options;
      this.#fields.set(key, afterWrite(this.#fields.get(key), routeStatus(wanted.created), clock.monotonic()));
      logger.verbose(2, 'The condition of the node is written', { created: wanted.created });
    } catch (error) {
      // Another node of this name, or none: the store will say so.
      if (!isNotFound(error) && !isConflict(error)) throw error;
    }
  }
}
