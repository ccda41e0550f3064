/**
 * Leader election on a `coordination.k8s.io/v1` Lease, with client-go's record, rules and timings
 * (https://github.com/kubernetes/client-go/blob/v0.36.3/tools/leaderelection/leaderelection.go), so that both can compete
 * for one Lease. What differs: candidates watch the Lease, a leader knows until when it may send (`Leadership`), and a
 * Lease is released only when nothing is in flight. Entry point: `LeaderElector.acquire`.
 */
import { onAbort } from './abort.ts';
import type { ResourceClient } from './client.ts';
import type { Clock } from './clock.ts';
import { withDeadline } from './deadline.ts';
import type { EventRecorder } from './event-recorder.ts';
import { createElectionMetrics, type ElectionMetrics } from './internal/election-metrics.ts';
import { compileElection, type ElectionTimings } from './internal/election-timings.ts';
import { LeadershipTerm, type Leadership } from './leadership.ts';
import { LeaseObserver } from './lease-observer.ts';
import { microTime, readLease, writeLease } from './lease-record.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import { isAlreadyExists, isConflict, isNotFound } from './status-error.ts';
import type { Lease } from './types/index.ts';

export interface LeaderElectorOptions {
  /** Of an unfenced, unlimited client. `get`, `create`, `update` on the Lease are needed; `watch` makes fail-over quick. */
  readonly leases: ResourceClient<Lease>;
  readonly namespace: string;
  /** Of the Lease, and the `name` label of the metrics. */
  readonly name: string;
  /** Unique among all candidates, over time too: `leaderIdentity(hostname(), randomUUID())`. */
  readonly identity: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1: spreads the candidates' tries. */
  readonly random: () => number;
  /** How long others wait for a renewal before they take over, in milliseconds. Default: 15,000. */
  readonly leaseDurationMs?: number;
  /** How long the leader tries to renew, in milliseconds; half of it is the time-out of one try. Default: 10,000. */
  readonly renewDeadlineMs?: number;
  /** Between two tries, in milliseconds. Default: 2,000. */
  readonly retryPeriodMs?: number;
  /** How long `release` waits for what is in flight. Default: `renewDeadlineMs`. */
  readonly drainTimeoutMs?: number;
  /** Tells of a holder when it is first seen, this process included; '' for none. */
  readonly onNewLeader?: (identity: string) => void;
  /** Records `LeaderElection` Events about the Lease, as upstream. */
  readonly events?: EventRecorder;
}

/** Upstream's form of an identity: host name and something that no other process ever has. */
export function leaderIdentity(hostname: string, unique: string): string {
  return `${hostname}_${unique}`;
}

/**
 * How long a stop tries to give the Lease back: others lose no more than the time until it expires, and a pod is killed 30 s after it was
 * asked to stop.
 */
const GIVE_UP_MS = 5_000;

/** What a renewal came to. */
type Renewal = 'renewed' | 'failed' | 'lost';

/** A candidate for one Lease. Takes part while `acquire` waits, leads while the `Leadership` it gave is not ended. */
export class LeaderElector {
  readonly #options: LeaderElectorOptions;
  readonly #timings: ElectionTimings;
  readonly #logger: Logger;
  readonly #metrics: ElectionMetrics;
  readonly #observer: LeaseObserver;
  #term: LeadershipTerm | undefined;
  /** The Lease as this process last wrote or read it, while it leads. */
  #lease: Lease = {};
  #stopRenewing: AbortController | undefined;
  #renewing: Promise<void> = Promise.resolve();

  /** Throws a `RangeError` that names every option that does not fit. */
  constructor(options: LeaderElectorOptions) {
    this.#timings = compileElection(options);
    this.#options = options;
    this.#logger = options.logger.with({ lease: `${options.namespace}/${options.name}`, identity: options.identity });
    this.#metrics = createElectionMetrics(options.metrics, options.name);
    this.#observer = new LeaseObserver({
      ...options,
      leaseDurationMs: this.#timings.leaseDurationMs,
      onHolder: (holder) => this.#tellHolder(holder),
    });
  }

  /** Who leads, as far as this candidate has seen; '' when nobody does or nothing was seen yet. */
  get leader(): string {
    return this.#observer.seen?.record.holder ?? '';
  }

  /**
   * Throws when this process still leads although its Lease ran out more than `toleranceMs` ago, which tells a health check
   * that it hangs (client-go's `HealthzAdaptor`, 20,000 there). A candidate is always healthy.
   */
  check(toleranceMs = 20_000): void {
    const term = this.#term;
    if (!term || term.signal.aborted) return;
    const lateMs = this.#options.clock.monotonic() - term.deadline;
    if (lateMs > toleranceMs) {
      throw new Error(`lease ${this.#options.name}: not renewed, and ${Math.round(lateMs)} ms past its deadline`);
    }
  }

  /**
   * Waits until this process leads. Failures are logged and tried again for ever; rejects only when the signal aborts, with
   * its reason, and with an `Error` when this elector leads already. A Lease that is released is taken at once, one that is no longer
   * renewed after its whole duration without a change *as seen from here*.
   */
  async acquire(signal: AbortSignal): Promise<Leadership> {
    if (this.#term && !this.#term.signal.aborted) throw new Error(`lease ${this.#options.name}: already led from here`);
    this.#logger.info('Attempting to acquire leader lease');
    // The last renewal of a term that was lost may still be under way.
    await this.#renewing;
    // The tries whose answers may have been lost: a record with one of these is our own.
    const tried = new Set<string>();
    for (;;) {
      signal.throwIfAborted();
      const outcome = await this.#readAndFollow(tried, signal);
      if (outcome instanceof LeadershipTerm) return this.#begin(outcome);
      if (outcome === 'again') continue;
      const freeInMs = this.#observer.freeInMs();
      await this.#options.clock.sleep(Math.min(this.#retryMs(), freeInMs || Infinity), signal);
    }
  }

  /** `again`: the server has something newer. `pause`: it did not answer, or the watch is over. */
  async #readAndFollow(tried: Set<string>, signal: AbortSignal): Promise<LeadershipTerm | 'again' | 'pause'> {
    if (!(await this.#read(signal))) return 'pause';
    const startedAt = this.#options.clock.monotonic();
    let watch: Disposable | undefined;
    using _watching = { [Symbol.dispose]: () => watch?.[Symbol.dispose]() };
    for (;;) {
      signal.throwIfAborted();
      const seen = this.#observer.seen;
      const ours = seen?.record.holder === this.#options.identity && tried.has(seen.record.acquireTime);
      const freeInMs = ours ? 0 : this.#observer.freeInMs();
      if (freeInMs === 0) return await this.#take(tried, ours);
      watch ??= this.#observer.watch((error) =>
        this.#logger.verbose(2, 'Watch of the lease broke; reading it from time to time', { error }),
      );
      if ((await this.#observer.wait(freeInMs, signal)) !== 'broken') continue;
      // The server ends every watch after some minutes; one that did not last is not worth another at once.
      return this.#options.clock.monotonic() - startedAt > this.#timings.retryPeriodMs ? 'again' : 'pause';
    }
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const { leases, namespace, name } = this.#options;
    try {
      this.#observer.observe(
        await this.#call('reading the lease', signal, (options) => leases.get({ namespace, name }, options)),
      );
      return true;
    } catch (error) {
      if (isNotFound(error)) {
        this.#observer.observe(undefined);
        return true;
      }
      if (!signal.aborted) this.#logger.warn('Could not read the leader lease; will be tried again', { error });
      return false;
    }
  }

  async #take(tried: Set<string>, ours: boolean): Promise<LeadershipTerm | 'again' | 'pause'> {
    const { clock, identity } = this.#options;
    const sentAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const seen = this.#observer.seen;
    const acquireTime = ours && seen ? seen.record.acquireTime : microTime(sentAt.wall);
    const transitions = seen ? seen.record.transitions + (ours ? 0 : 1) : 0;
    tried.add(acquireTime);
    try {
      // A stop does not cut it off: whoever has the Lease has to know that, to give it back.
      this.#lease = await this.#write(seen?.lease, { acquireTime, transitions, wall: sentAt.wall });
    } catch (error) {
      // Somebody else was quicker, or what we saw is old.
      if (isConflict(error) || isAlreadyExists(error) || isNotFound(error)) return 'again';
      this.#logger.warn('Could not take the leader lease; will be tried again', { error });
      return 'pause';
    }
    this.#observer.observe(this.#lease);
    const term = new LeadershipTerm({
      identity,
      clock,
      holdMs: this.#timings.holdMs,
      release: (own) => this.#release(own),
    });
    term.extend(sentAt);
    if (!term.expired) return term;
    // The answer came too late to act on. The record is known as ours, and is renewed next.
    term.end('the answer came after the deadline');
    return 'again';
  }

  #begin(term: LeadershipTerm): Leadership {
    this.#term = term;
    this.#metrics.leads(true);
    this.#logger.info('Became leader', { transitions: this.#lease.spec?.leaseTransitions });
    this.#recordEvent('became leader');
    onAbort(term.signal, () => this.#ended(term));
    this.#stopRenewing = new AbortController();
    this.#renewing = this.#renewUntil(term, this.#stopRenewing.signal);
    return term;
  }

  #ended(term: LeadershipTerm): void {
    this.#stopRenewing?.abort(term.signal.reason);
    this.#metrics.leads(false);
    this.#logger.info('Stopped leading', { reason: term.endedBecause, inFlight: term.inFlight });
    this.#recordEvent('stopped leading');
  }

  async #renewUntil(term: LeadershipTerm, stop: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    const { retryPeriodMs } = this.#timings;
    let pauseMs = retryPeriodMs;
    for (;;) {
      try {
        await clock.sleep(pauseMs, stop);
      } catch {
        return;
      }
      const startedAt = clock.monotonic();
      // After a SIGSTOP this may come before the term's own timer.
      if (term.expired) return term.end('the lease was not renewed in time');
      const outcome = await this.#renew(term, stop);
      if (stop.aborted || outcome === 'lost') return;
      // A try that took long has waited already.
      const tookMs = clock.monotonic() - startedAt;
      pauseMs = outcome === 'renewed' ? retryPeriodMs : Math.max(retryPeriodMs / 10, retryPeriodMs - tookMs);
    }
  }

  /** Without reading first, as client-go's fast path; a conflict is looked into. */
  async #renew(term: LeadershipTerm, stop: AbortSignal): Promise<Renewal> {
    try {
      return await this.#extend(term, this.#lease, stop);
    } catch (error) {
      if (!isConflict(error) && !isNotFound(error)) {
        return this.#failed('renew', error);
      }
    }
    this.#metrics.slowpath();
    const found = await this.#readOwn(term, stop);
    if (found === 'failed' || found === 'lost') return found;
    try {
      return await this.#extend(term, found, stop);
    } catch (error) {
      return this.#failed('renew', error);
    }
  }

  /** After the end of the term, which is told already, nothing is tried again. */
  #failed(what: 'read' | 'renew', error: unknown): 'failed' {
    if (!this.#stopRenewing?.signal.aborted) {
      this.#logger.warn(`Could not ${what} the leader lease; will be tried again`, { error });
    }
    return 'failed';
  }

  async #extend(term: LeadershipTerm, onTopOf: Lease | undefined, stop: AbortSignal): Promise<Renewal> {
    const { clock } = this.#options;
    const sentAt = { monotonic: clock.monotonic(), wall: clock.now() };
    const { acquireTime, transitions } = readLease(this.#lease, 0);
    this.#lease = await this.#write(onTopOf, { acquireTime, transitions, wall: sentAt.wall }, stop);
    this.#observer.observe(this.#lease);
    term.extend(sentAt);
    return 'renewed';
  }

  /** The Lease if the term goes on: the record is ours (an answer was lost, or labels were edited), or the object was deleted. */
  async #readOwn(term: LeadershipTerm, signal: AbortSignal): Promise<Lease | undefined | 'failed' | 'lost'> {
    const { leases, namespace, name, identity } = this.#options;
    let lease: Lease;
    try {
      lease = await this.#call('reading the lease', signal, (options) => leases.get({ namespace, name }, options));
    } catch (error) {
      if (isNotFound(error)) return undefined;
      return this.#failed('read', error);
    }
    const record = readLease(lease, 0);
    if (record.holder === identity && record.acquireTime === this.#lease.spec?.acquireTime) return lease;
    this.#observer.observe(lease);
    term.end(record.holder ? `the lease is held by ${record.holder}` : 'the lease was released by another program');
    return 'lost';
  }

  async #release(term: LeadershipTerm): Promise<void> {
    const drained = await term.drained(this.#timings.drainTimeoutMs);
    // Renewed until now, so that the Lease could not be taken while something was in flight. A renewal that is under way is not waited for:
    // one that arrives later is on top of a version of the Lease which is no more, and one that has taken effect is found by the conflict.
    this.#stopRenewing?.abort(new DOMException('the lease is being released', 'AbortError'));
    await this.#renewing;
    // Once it is as old as the lease, it is as harmless as after a take-over from a leader that was lost.
    const unknown = term.unknownWithin(this.#timings.leaseDurationMs);
    if (!drained) {
      this.#logger.warn('Lease not released: requests are still in flight, so it is left to expire', {
        inFlight: term.inFlight,
      });
    } else if (unknown !== undefined) {
      const why = 'a write to the cloud was given up after it was sent and may still take effect';
      this.#logger.warn(`Lease not released: ${why}, so it is left to expire`, { write: unknown });
    } else if (!term.signal.aborted && !term.expired) await this.#giveUp(term);
    term.end('the lease was released');
  }

  async #giveUp(term: LeadershipTerm): Promise<void> {
    const { clock } = this.#options;
    const free = (lease: Lease, signal: AbortSignal): Promise<Lease> =>
      this.#update(
        writeLease(lease, {
          holder: '',
          durationMs: 1_000,
          acquireTime: microTime(clock.now()),
          renewedAt: clock.now(),
          transitions: lease.spec?.leaseTransitions ?? 0,
        }),
        signal,
      );
    const deadline = { clock, timeoutMs: GIVE_UP_MS, what: 'giving the lease back', signal: term.signal };
    try {
      this.#lease = await withDeadline(deadline, (signal) =>
        free(this.#lease, signal).catch(async (error: unknown) => {
          const found = isConflict(error) ? await this.#readOwn(term, signal) : undefined;
          if (typeof found === 'object') return await free(found, signal);
          throw error;
        }),
      );
      this.#observer.observe(this.#lease);
      this.#logger.info('Released leader lease');
    } catch (error) {
      this.#logger.warn('Could not release the leader lease; it is left to expire', { error });
    }
  }

  #write(
    lease: Lease | undefined,
    record: { readonly acquireTime: string; readonly transitions: number; readonly wall: number },
    signal?: AbortSignal,
  ): Promise<Lease> {
    const { leases, namespace, name, identity } = this.#options;
    const next = writeLease(
      lease ?? { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } },
      {
        holder: identity,
        durationMs: this.#timings.leaseDurationMs,
        acquireTime: record.acquireTime,
        renewedAt: record.wall,
        transitions: record.transitions,
      },
    );
    if (lease) return this.#update(next, signal);
    return this.#call('creating the lease', signal, (options) => leases.create(next, { ...options, namespace }));
  }

  #update(lease: Lease, signal?: AbortSignal): Promise<Lease> {
    return this.#call('updating the lease', signal, (options) => this.#options.leases.update(lease, options));
  }

  /** On the connection for leases, with half the renew deadline as time-out. */
  #call<T>(
    what: string,
    signal: AbortSignal | undefined,
    send: (options: { signal: AbortSignal; timeoutMs: number; traffic: 'lease' }) => Promise<T>,
  ): Promise<T> {
    const timeoutMs = this.#timings.callTimeoutMs;
    return withDeadline({ clock: this.#options.clock, timeoutMs, what, signal }, (either) =>
      send({ signal: either, timeoutMs, traffic: 'lease' }),
    );
  }

  /** As `wait.Jitter` with client-go's factor of 1.2. */
  #retryMs(): number {
    return this.#timings.retryPeriodMs * (1 + 1.2 * this.#options.random());
  }

  #tellHolder(holder: string): void {
    if (holder !== '') this.#logger.verbose(2, 'New leader seen', { holder });
    try {
      this.#options.onNewLeader?.(holder);
    } catch (error) {
      this.#logger.error('The callback onNewLeader failed', { error });
    }
  }

  #recordEvent(what: string): void {
    const { events, identity } = this.#options;
    const about = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', ...this.#lease };
    events?.record(about, { type: 'Normal', reason: 'LeaderElection', message: `${identity} ${what}` });
  }
}
