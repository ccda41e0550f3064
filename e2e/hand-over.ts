/**
 * Controllers that go from one manager to another, as the API server's own record shows it: who did what, and when. Something
 * that is to be done comes twice a second; what was done before must not be touched by whoever comes next.
 */
import assert from 'node:assert/strict';
import { systemClock } from '@outrigger/kube';
import type { AuditEntry, AuditMark, ControlPlane } from '@outrigger/testing';
import { waitUntil } from './wait-until.ts';

/** Short, so that a hand-over takes seconds; and so long that a manager on a machine which is busy loses no lock of itself. */
export const LEASE_MS = 10_000;
export const ELECTION: Readonly<Record<string, string>> = {
  'leader-elect': 'true',
  'leader-elect-lease-duration': `${LEASE_MS}ms`,
  'leader-elect-renew-deadline': '8s',
  'leader-elect-retry-period': '500ms',
};
/**
 * What a manager may lose that a busy machine does not let run, its retry period included; the probe does not see it. One that
 * waits for a second lease, or for one that was given back, takes longer.
 */
export const SLOW_MANAGER_MS = 5_000;
/** Name of the Lease under which the controllers run that are handed over. */
export const MIGRATION = 'cloud-provider-extraction-migration';
const PERIOD_MS = 500;
const PATIENCE_MS = 120_000;

/** All managers but one read the same file. */
export function migrationConfig(...controllers: readonly string[]): string {
  return JSON.stringify({
    apiVersion: 'controllermanager.config.k8s.io/v1',
    kind: 'LeaderMigrationConfiguration',
    leaderName: MIGRATION,
    controllerLeaders: controllers.map((name) => ({ name, component: '*' })),
  });
}

export function toFlags(flags: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(flags).map(([name, value]) => `--${name}=${value}`);
}

/** Something that one manager has done. `at`: when the API server was asked, in milliseconds since the Unix epoch. */
interface Deed {
  readonly user: string;
  readonly at: number;
}

export interface HandOverOptions {
  readonly controlPlane: ControlPlane;
  /** By the name of a controller: whether this request is a deed of it. Only those that succeeded are asked about. */
  readonly deeds: Readonly<Record<string, (entry: AuditEntry) => boolean>>;
  /** What is done with, by name, and how it looks. */
  readonly settled: () => Promise<ReadonlyMap<string, string>>;
  /** File with the log of Outrigger, for failures. */
  readonly log: string;
}

/** A hand-over is some requests in a row: the Lease, a list, what is made, what is written. Each may take this machine's time. */
const REQUESTS_IN_A_ROW = 4;

export class HandOver {
  readonly #options: HandOverOptions;
  #probe: Probe | undefined;
  readonly #handOvers: { readonly to: string; at: number; readonly boundMs: number }[] = [];

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Gives the managers something to do twice a second, until it is disposed of. */
  probe(act: (index: number) => Promise<unknown>): AsyncDisposable {
    this.#probe = new Probe(act);
    return this.#probe;
  }

  /** Waits until each controller is at work under this user. `since`: from where on its deeds count; default: from now on. */
  async works(user: string, since?: AuditMark): Promise<void> {
    const { controlPlane, deeds } = this.#options;
    const begin = since ?? (await controlPlane.auditLog.mark());
    await this.until(`all controllers of ${user} work`, async () => {
      const done = await controlPlane.auditLog.count((entry) => {
        if (entry.user.username !== user || !isDone(entry)) return undefined;
        return Object.keys(deeds).find((controller) => deeds[controller]?.(entry));
      }, begin);
      return Object.keys(deeds).every((controller) => done[controller] !== undefined);
    });
  }

  /** Starts a manager, known to the API server as `user`, and waits until it seeks the lock of the migration. */
  async stand(user: string, start: () => Promise<void> | void): Promise<void> {
    const { auditLog } = this.#options.controlPlane;
    const begin = await auditLog.mark();
    await start();
    await this.until(`${user} seeks the lock`, async () => {
      const asked = await auditLog.count(
        (entry) => (entry.user.username === user && entry.objectRef?.name === MIGRATION ? 'asked' : undefined),
        begin,
      );
      return asked['asked'] !== undefined;
    });
  }

  /** Lets the manager that works end, and waits until the other one works. What was settled before stays as it was. */
  async handOver(to: string, boundMs: number, end: () => Promise<unknown>): Promise<void> {
    const before = await this.#options.settled();
    assert.ok(before.size > 0, 'nothing has been done yet');
    // From before the end on: what the former one still does must not be missed, and is not the other one's.
    const begin = await this.#options.controlPlane.auditLog.mark();
    this.#handOvers.push({ to, at: systemClock.now(), boundMs });
    await end();
    await this.works(to, begin);
    const after = await this.#options.settled();
    for (const [name, look] of before) assert.equal(after.get(name), look, `${name} was changed by the hand-over`);
  }

  /** For an `end` that has something to prepare: the bound counts from now on. */
  endsNow(): void {
    const current = this.#handOvers.at(-1);
    if (current) current.at = systemClock.now();
  }

  /**
   * Holds the record of all hand-overs, `first` being who worked before them, to the bounds. The bounds are those of a machine
   * that has nothing else to do: for one that has, the time that the probe's own requests took meanwhile is added.
   */
  async check(first: string, tell: (line: string) => void): Promise<void> {
    for (const { controller, deeds } of await this.#deeds()) {
      const turns = turnsOf(deeds);
      const expected = [first, ...this.#handOvers.map(({ to }) => to)];
      assert.deepEqual(
        turns.map(({ user }) => user),
        expected,
        `${controller}: two were at work at a time`,
      );
      for (const [index, { at, boundMs, to }] of this.#handOvers.entries()) {
        const next = turns[index + 1];
        // One that was asked to end works on until it hears of it.
        const from = Math.max(at, next ? (deeds[deeds.indexOf(next) - 1]?.at ?? at) : at);
        const idleMs = (next?.at ?? Number.POSITIVE_INFINITY) - from;
        const slowMs = REQUESTS_IN_A_ROW * Math.round(this.#probe?.slowestMs(from - PERIOD_MS, from + idleMs) ?? 0);
        tell(`${controller}: ${to} works ${idleMs} ms after the other one was ended; bound ${boundMs} + ${slowMs} ms`);
        assert.ok(idleMs <= boundMs + slowMs, `${controller}: nobody worked for ${idleMs} ms`);
      }
    }
  }

  async #deeds(): Promise<readonly { readonly controller: string; readonly deeds: readonly Deed[] }[]> {
    const { controlPlane, deeds } = this.#options;
    const done = await controlPlane.auditLog.requests(isDone);
    return Object.entries(deeds).map(([controller, isDeed]) => ({
      controller,
      deeds: done
        .filter(isDeed)
        .map((entry) => ({ user: entry.user.username, at: receivedAt(entry) }))
        .toSorted((a, b) => a.at - b.at),
    }));
  }

  /** Polls; fails with the end of Outrigger's log when it takes too long. */
  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: 200, logs: [this.#options.log] });
  }
}

/** Does something over and over, with a number that grows, until it is disposed of. */
class Probe implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #acts: { readonly at: number; readonly tookMs: number }[] = [];
  readonly #running: Promise<void>;

  constructor(act: (index: number) => Promise<unknown>) {
    this.#running = this.#run(act);
    // Told by the disposal.
    this.#running.catch(() => {});
  }

  async #run(act: (index: number) => Promise<unknown>): Promise<void> {
    for (let index = 0; !this.#stop.signal.aborted; index++) {
      const at = systemClock.now();
      await act(index);
      const sleptAt = systemClock.now();
      await systemClock.sleep(PERIOD_MS, this.#stop.signal).catch(() => {});
      // This process is kept waiting, too, when it wants to wake up.
      const lateMs = Math.max(0, systemClock.now() - sleptAt - PERIOD_MS);
      this.#acts.push({ at, tookMs: sleptAt - at + lateMs });
    }
  }

  /** How long the slowest act took that began in this time, with how late the next one was, in milliseconds since the Unix epoch. */
  slowestMs(from: number, to: number): number {
    return Math.max(0, ...this.#acts.filter(({ at }) => at >= from && at <= to).map(({ tookMs }) => tookMs));
  }

  /** Rejects with what went wrong while it ran. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }
}

/** Deeds in a row by one user, as the first of them. */
function turnsOf(deeds: readonly Deed[]): readonly Deed[] {
  return deeds.filter(({ user }, index) => deeds[index - 1]?.user !== user);
}

function isDone({ responseStatus }: AuditEntry): boolean {
  return (responseStatus?.code ?? 500) < 300;
}

function receivedAt({ requestReceivedTimestamp }: AuditEntry): number {
  return Date.parse(requestReceivedTimestamp);
}
