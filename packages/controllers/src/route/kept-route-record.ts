/**
 * The record of routes while the controller runs: read before anything is planned, brought up to what is there with each plan, and tried
 * again when the API server refuses it.
 */
import { parseCidr, type Route } from '@outrigger/cloud-provider';
import type { KubeObject } from '@outrigger/kube';
import { recordFailureNote } from './failure-note.ts';
import type { Retries } from './retries.ts';
import { linesOf } from './route-owners.ts';
import { SUSPECT_MS, type RouteWork } from './route-work.ts';
import type { StoredRouteRecord } from './stored-route-record.ts';

/** Key of the retries. */
const KEY = 'record';

export interface KeptRouteRecordOptions extends Pick<
  RouteWork,
  'clock' | 'inFlight' | 'journal' | 'logger' | 'signal' | 'told'
> {
  readonly stored: StoredRouteRecord;
  readonly retries: Retries;
  /** What a failure is told about. */
  readonly cluster: KubeObject;
}

export class KeptRouteRecord {
  readonly stored: StoredRouteRecord;
  readonly #options: KeptRouteRecordOptions;

  constructor(options: KeptRouteRecordOptions) {
    this.stored = options.stored;
    this.#options = options;
  }

  /** Without it, routes of this cluster would seem to be foreign. Rejects when the signal aborts. */
  async load(): Promise<void> {
    const { clock, cluster, logger, retries, signal, told } = this.#options;
    for (;;) {
      try {
        await this.stored.load();
        retries.succeeded(KEY);
        return;
      } catch (error) {
        signal.throwIfAborted();
        const { delayMs } = retries.failed(KEY, error as Error);
        const retryIn = `${Math.round(delayMs)}ms`;
        logger.error('The record of the routes could not be read; retrying', { error, retryIn });
        const note = recordFailureNote(error, 'No route is created or deleted');
        if (note) told.tell(cluster, note);
        await clock.sleep(Math.min(delayMs, SUSPECT_MS), signal);
      }
    }
  }

  /** What is ours now, by its node, is so after the node. Milliseconds until it is tried again to write that down. */
  remember(owned: Iterable<Route>, now: number): number {
    const { inFlight, journal, retries } = this.#options;
    if (journal.dryRun) return Number.POSITIVE_INFINITY;
    const { record } = this.stored;
    for (const route of owned) record.note(parseCidr(route.destination)?.text ?? '', linesOf(route), now);
    const waitMs = this.stored.isBehind && retries.waitMs(KEY);
    if (waitMs === 0) inFlight.start(this.#save());
    return waitMs || Number.POSITIVE_INFINITY;
  }

  async #save(): Promise<void> {
    const { logger, retries, signal } = this.#options;
    try {
      await this.stored.save();
      retries.succeeded(KEY);
    } catch (error) {
      if (signal.aborted) return;
      const { delayMs } = retries.failed(KEY, error as Error);
      const retryIn = `${Math.round(delayMs)}ms`;
      logger.warn('The record of the routes could not be saved', { error, retryIn });
    }
  }
}
