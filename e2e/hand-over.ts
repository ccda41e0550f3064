/**
 * Controllers that go from one manager to another, as the API server's own record shows it: who did what, and when. Something
 * that is to be done comes twice a second; what was done before must not be touched by whoever comes next.
 */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { systemClock } from '@outrigger/kube';
import type { AuditEntry, ControlPlane } from '@outrigger/testing';

/** Short, so that a hand-over takes seconds. */
export const LEASE_MS = 3_000;
export const ELECTION: Readonly<Record<string, string>> = {
  'leader-elect': 'true',
  'leader-elect-lease-duration': `${LEASE_MS}ms`,
  'leader-elect-renew-deadline': '2s',
  'leader-elect-retry-period': '500ms',
};
/** Name of the Lease under which the controllers run that are handed over. */
export const MIGRATION = 'cloud-provider-extraction-migration';
const PERIOD_MS = 500;
const PATIENCE_MS = 30_000;

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

export class HandOver {
  readonly #options: HandOverOptions;
  readonly #handOvers: { readonly to: string; readonly at: number; readonly boundMs: number }[] = [];

  constructor(options: HandOverOptions) {
    this.#options = options;
  }

  /** Waits until each controller is at work under this user. */
  async works(user: string, since = 0): Promise<void> {
    await this.#until(`all controllers of ${user} work`, async () => {
      const all = await this.#deeds();
      return all.every(({ deeds }) => deeds.some((deed) => deed.user === user && deed.at > since));
    });
  }

  /** Starts a manager, known to the API server as `user`, and waits until it seeks the lock of the migration. */
  async stand(user: string, start: () => Promise<void> | void): Promise<void> {
    const at = systemClock.now();
    await start();
    await this.#until(`${user} seeks the lock`, async () => {
      const asked = await this.#options.controlPlane.auditLog.requests(
        (entry) => entry.user.username === user && entry.objectRef?.name === MIGRATION && receivedAt(entry) > at,
      );
      return asked.length > 0;
    });
  }

  /** Lets the manager that works end, and waits until the other one works. What was settled before stays as it was. */
  async handOver(to: string, boundMs: number, end: () => Promise<unknown>): Promise<void> {
    const before = await this.#options.settled();
    assert.ok(before.size > 0, 'nothing has been done yet');
    const at = systemClock.now();
    this.#handOvers.push({ to, at, boundMs });
    await end();
    await this.works(to, at);
    const after = await this.#options.settled();
    for (const [name, look] of before) assert.equal(after.get(name), look, `${name} was changed by the hand-over`);
  }

  /** Holds the record of all hand-overs, `first` being who worked before them, to the bounds. */
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
        const idleMs = (turns[index + 1]?.at ?? Number.POSITIVE_INFINITY) - at;
        tell(`${controller}: ${to} works ${idleMs} ms after the other one was ended; bound ${boundMs} ms`);
        assert.ok(idleMs <= boundMs, `${controller}: nobody worked for ${idleMs} ms, not ${boundMs} ms`);
      }
    }
  }

  async #deeds(): Promise<readonly { readonly controller: string; readonly deeds: readonly Deed[] }[]> {
    const { controlPlane, deeds } = this.#options;
    const done = await controlPlane.auditLog.requests(({ responseStatus }) => (responseStatus?.code ?? 500) < 300);
    return Object.entries(deeds).map(([controller, isDeed]) => ({
      controller,
      deeds: done
        .filter(isDeed)
        .map((entry) => ({ user: entry.user.username, at: receivedAt(entry) }))
        .toSorted((a, b) => a.at - b.at),
    }));
  }

  async #until(what: string, holds: () => Promise<boolean>): Promise<void> {
    const deadline = systemClock.monotonic() + PATIENCE_MS;
    while (!(await holds())) {
      if (systemClock.monotonic() > deadline) {
        const log = await readFile(this.#options.log, 'utf8').catch(() => '');
        assert.fail(`not within ${PATIENCE_MS / 1_000} s: ${what}\n${log.slice(-4_000)}`);
      }
      await systemClock.sleep(100);
    }
  }
}

/** Does something over and over, with a number that grows, until it is disposed of. */
export class Probe implements AsyncDisposable {
  readonly #stop = new AbortController();
  readonly #running: Promise<void>;

  constructor(act: (index: number) => Promise<unknown>) {
    this.#running = this.#run(act);
    // Told by the disposal.
    this.#running.catch(() => {});
  }

  async #run(act: (index: number) => Promise<unknown>): Promise<void> {
    for (let index = 0; !this.#stop.signal.aborted; index++) {
      await act(index);
      await systemClock.sleep(PERIOD_MS, this.#stop.signal).catch(() => {});
    }
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

function receivedAt({ requestReceivedTimestamp }: AuditEntry): number {
  return Date.parse(requestReceivedTimestamp);
}
