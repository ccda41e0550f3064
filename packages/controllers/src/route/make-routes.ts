/** Makes the routes that are planned: while some batches are in flight, routes gather for the next. Entry point: `RouteMaker`. */
import {
  canonicalIp,
  type NodeAddress,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';
import { refOfNode } from '../node-ref.ts';
import { failureNote } from './failure-note.ts';
import type { CreateRoute } from './planned-route.ts';
import { hopsOfNode } from './route-owners.ts';
import { notedCreate, subjectOfCreate } from './route-words.ts';
import { suspect, SUSPECT_MS, type RouteWork } from './route-work.ts';
import type { StoredRouteRecord } from './stored-route-record.ts';

export interface RouteMakerOptions extends RouteWork {
  /** Where the cloud keeps no owner with a route. */
  readonly stored: StoredRouteRecord | undefined;
  readonly nextHop: Routes['nextHop'];
}

export class RouteMaker {
  readonly #work: RouteMakerOptions;

  constructor(work: RouteMakerOptions) {
    this.#work = work;
  }

  /** Starts what may start; milliseconds until there is more. */
  start(creates: readonly CreateRoute[]): number {
    const { cloud, inFlight, retries, stored } = this.#work;
    const free = creates.filter(({ destination, key }) => !inFlight.has(key) && !stored?.record.isFull(destination));
    const ready = free.filter(({ key }) => retries.waitMs(key) === 0);
    let soonest = Math.min(...free.map(({ key }) => retries.waitMs(key) || Number.POSITIVE_INFINITY));
    while (ready.length > 0) {
      const waitMs = inFlight.batchWaitMs(ready.length >= cloud.batchSize);
      if (waitMs > 0) {
        soonest = Math.min(soonest, waitMs);
        break;
      }
      inFlight.start(this.#create(ready.splice(0, cloud.batchSize)));
    }
    return soonest;
  }

  async #create(batch: readonly CreateRoute[]): Promise<void> {
    const { inFlight, signal } = this.#work;
    using _batch = inFlight.beginBatch();
    using _keys = inFlight.hold(batch.map(({ key }) => key));
    const results = await this.#createRecorded(batch);
    if (signal.aborted) return;
    for (const [i, create] of batch.entries()) this.#created(create, results[i] as RouteResult);
  }

  /** Where the cloud keeps no owner, it is written down before: whatever comes of the request, its route is known as ours. */
  async #createRecorded(batch: readonly CreateRoute[]): Promise<readonly RouteResult[]> {
    const { clock, cloud, nextHop, stored } = this.#work;
    if (!stored) return cloud.create(batch.map((create) => requestOf(create)));
    const hops = batch.map(({ node }) => hopsOfNode(node, nextHop));
    // No other address than those that are written down.
    const requests = batch.map((create, i) => requestOf(create, nextHop === 'instance' ? undefined : hops[i]));
    for (const [i, { destination }] of batch.entries()) {
      stored.record.note(destination, hops[i] ?? [], Number.POSITIVE_INFINITY);
    }
    try {
      await stored.save();
      return await cloud.create(requests);
    } catch (error) {
      return batch.map(() => ({ kind: 'failed', error: error as Error }));
    } finally {
      // What has no answer yet may take effect later.
      const at = clock.monotonic() + SUSPECT_MS;
      for (const [i, { destination }] of batch.entries()) stored.record.release(destination, hops[i] ?? [], at);
    }
  }

  #created(create: CreateRoute, result: RouteResult): void {
    const { clock, journal, known, listIn, logger, metrics, nextHop, retries, stored, told } = this.#work;
    metrics.operations.inc({ operation: 'create', result: result.kind });
    journal.note(subjectOfCreate(create), [notedCreate(create)], result.kind === 'failed' ? result : undefined);
    if (result.kind !== 'failed') {
      retries.succeeded(create.key);
      // Only by its addresses is such a route known to lead to the node.
      const nextHops = stored && nextHop !== 'instance' ? hopsOfNode(create.node, nextHop) : undefined;
      known.made(create, clock.monotonic(), nextHops);
      // The record is to have its ID before its machine may be forgotten.
      if (nextHop === 'instance') listIn(SUSPECT_MS);
      logger.info('Route created', { node: create.node.metadata?.name, destination: create.destination });
      return;
    }
    const { error } = result;
    const { attempts, delayMs } = retries.failed(create.key, error);
    suspect(this.#work, error, delayMs);
    const { node, destination } = create;
    logger.warn('The route could not be created', { node: node.metadata?.name, destination, error, attempts });
    const note = failureNote(create, error, attempts);
    if (note) told.tell(node, note);
  }
}

/** `hops`: the IP addresses that a route may lead to. Default: all. */
function requestOf({ node, destination, replaces }: CreateRoute, hops?: readonly string[]): RouteRequest {
  const all = (node.status?.addresses ?? []) as readonly NodeAddress[];
  const isNoted = (ip: string | undefined): boolean => !hops || ip === undefined || hops.includes(ip);
  const addresses = all.filter(({ address }) => isNoted(canonicalIp(address)));
  return { node: refOfNode(node), addresses, destination, ...(replaces.length > 0 && { replaces }) };
}
