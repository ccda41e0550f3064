/** Removes the routes that are to go, by what cloud and API server show at that moment. Entry point: `RouteRemover`. */
import { isCloudError, type RouteResult } from '@outrigger/cloud-provider';
import type { Node, ResourceClient, Store } from '@outrigger/kube';
import { noRouteNote } from './failure-note.ts';
import { readLiveNodes } from './live-nodes.ts';
import type { DeleteRoute } from './planned-route.ts';
import { asOwned } from './route-owners.ts';
import { notedDelete, subjectOfDelete } from './route-words.ts';
import { keyOfDelete, suspect, type RouteWork } from './route-work.ts';

/** Routes are deleted by a list that is not older. */
const FRESH_MS = 10_000;

export interface RouteRemoverOptions extends RouteWork {
  readonly nodes: ResourceClient<Node>;
  readonly store: Store<Node>;
}

export class RouteRemover {
  readonly #work: RouteRemoverOptions;

  constructor(work: RouteRemoverOptions) {
    this.#work = work;
  }

  /** Starts what may start; milliseconds until there is more. */
  start(deletes: readonly DeleteRoute[], now: number): number {
    const { inFlight, known, listIn, retries } = this.#work;
    const free = deletes.filter(({ route }) => !inFlight.has(keyOfDelete(route)));
    const waits = free.map(({ route }) => retries.waitMs(keyOfDelete(route)));
    const ready = free.filter((_, i) => waits[i] === 0);
    const soonest = Math.min(...waits.filter((wait) => wait > 0));
    if (ready.length === 0) return soonest;
    // What is deleted is what the cloud shows now, with the ID and the owner that it shows now.
    const isFresh = now - (known.asOf ?? Number.NEGATIVE_INFINITY) <= FRESH_MS;
    const listed = ready.filter(({ route }) => isFresh && known.isListed(route));
    if (listed.length < ready.length) listIn(0);
    if (listed.length > 0) inFlight.start(this.#delete(listed));
    return soonest;
  }

  async #delete(candidates: readonly DeleteRoute[]): Promise<void> {
    const { cloud, inFlight, logger, retries, signal } = this.#work;
    const keys = candidates.map(({ route }) => keyOfDelete(route));
    using _keys = inFlight.hold(keys);
    try {
      const confirmed = await this.#confirm(candidates);
      const { batchSize } = cloud;
      for (let i = 0; i < confirmed.length; i += batchSize) {
        const batch = confirmed.slice(i, i + batchSize);
        const results = await cloud.delete(batch.map(({ route }) => asOwned(route)));
        if (signal.aborted) return;
        for (const [j, one] of batch.entries()) this.#deleted(one, results[j] as RouteResult);
      }
    } catch (error) {
      if (signal.aborted) return;
      for (const key of keys) retries.failed(key, error as Error);
      logger.warn('The nodes could not be read: no route is deleted', { error });
    }
  }

  /** Plans again with the nodes as the server has them now: what is not to go by that plan stays. */
  async #confirm(candidates: readonly DeleteRoute[]): Promise<readonly DeleteRoute[]> {
    const { logger, nodes: client, planWith, retries, signal, store } = this.#work;
    const nodes = await readLiveNodes(candidates, { client, nodes: store.values(), signal });
    const planned = new Set(planWith(nodes).deletes.map(({ route }) => route));
    const confirmed = candidates.filter(({ route }) => planned.has(route));
    for (const { route } of candidates) {
      if (planned.has(route)) continue;
      // The store is behind and will be woken by what it has not seen yet.
      retries.failed(keyOfDelete(route), new Error('the node is there'));
      logger.warn('A route is kept: the API server has a node that is not in the cache', { route: route.id });
    }
    return confirmed;
  }

  #deleted(removal: DeleteRoute, result: RouteResult): void {
    const { route, reason, node } = removal;
    const { journal, known, logger, metrics, retries, told } = this.#work;
    journal.note(subjectOfDelete(removal), [notedDelete(removal)], result.kind === 'failed' ? result : undefined);
    const fields = { route: route.id, destination: route.destination, reason };
    metrics.operations.inc({ operation: 'delete', result: result.kind });
    if (result.kind !== 'failed') {
      retries.succeeded(keyOfDelete(route));
      known.removed(route);
      logger.info('Route deleted', fields);
      return;
    }
    const { error } = result;
    const { attempts, delayMs } = retries.failed(keyOfDelete(route), error);
    suspect(this.#work, error, delayMs);
    logger.warn('The route could not be deleted', { ...fields, error, attempts });
    if (!node) return;
    const why = isCloudError(error) ? `${error.message} (${error.code})` : 'the log has the error';
    const name = node.metadata?.name ?? '';
    told.tell(
      node,
      noRouteNote(`The route ${route.destination} does not lead to node ${name} and could not be deleted: ${why}`),
    );
  }
}
