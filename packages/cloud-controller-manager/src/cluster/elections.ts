/** The locks that this program seeks: its own Lease and, while controllers are moved, the Lease of the migration. */
import { randomUUID } from 'node:crypto';
import {
  createEventRecorder,
  LeaderElector,
  leaderIdentity,
  resources,
  type Client,
  type Leadership,
} from '@outrigger/kube';
import type { Foundation } from '../program/foundation.ts';

/** Waits for a lock; rejects when the signal aborts. */
type Acquire = (signal: AbortSignal) => Promise<Leadership>;

/** The way to the locks, and the recorder of the Events about them. */
export interface Elections extends AsyncDisposable {
  /** `undefined` with `--leader-elect=false`. */
  readonly main: Acquire | undefined;
  /** `undefined` when nothing of this program runs under it. */
  readonly migration: Acquire | undefined;
  /** Who leads, as far as this process has seen; '' when nobody does or nothing was seen yet. */
  readonly leader: () => string;
}

/** A former leader does not wait longer than this until its last Event is written. */
const LAST_EVENT_MS = 1_000;

/** `client`: over a connection that is not fenced. `migrationLease`: name of the second Lease, if it is sought. */
export function openElections(
  component: string,
  foundation: Foundation,
  client: Client,
  migrationLease: string | undefined,
): Elections {
  const { clock, environment, health, logger, metrics, options, random } = foundation;
  const flags = options.leaderElection;
  const { hostname: host } = environment;
  const recorder = createEventRecorder({ client, component, host, clock, logger, metrics, random });
  const identity = leaderIdentity(host, randomUUID());
  const candidate = (name: string): LeaderElector => {
    const elector: LeaderElector = new LeaderElector({
      leases: client.of(resources.leases),
      namespace: flags.leaderElectResourceNamespace,
      name,
      identity,
      leaseDurationMs: flags.leaderElectLeaseDuration,
      renewDeadlineMs: flags.leaderElectRenewDeadline,
      retryPeriodMs: flags.leaderElectRetryPeriod,
      clock,
      logger: logger.with({ component: 'leader-election' }),
      metrics,
      random,
      events: {
        record: (about, note) => {
          // After a loss another one may lead already: a former leader sends nothing, not even that it stopped.
          if (note.message.endsWith('became leader') || elector.leader === '') recorder.record(about, note);
        },
      },
    });
    return elector;
  };
  const main = flags.leaderElect ? candidate(flags.leaderElectResourceName) : undefined;
  const migration = main && migrationLease !== undefined ? candidate(migrationLease) : undefined;
  if (main) {
    const check = (): void => {
      main.check();
      migration?.check();
    };
    health.add({ name: 'leaderElection', kinds: ['live'], check });
  }
  return {
    main: main && ((signal) => main.acquire(signal)),
    leader: () => main?.leader ?? '',
    migration: migration && ((signal) => migration.acquire(signal)),
    [Symbol.asyncDispose]: () => recorder.close({ timeoutMs: LAST_EVENT_MS }),
  };
}
