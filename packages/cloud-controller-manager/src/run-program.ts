/** The program, in the order in which it comes to life. Reads like a table of contents; the chapters are in the files. */
import { randomUUID } from 'node:crypto';
import { exitCodeOf, runControllerManager, type LeaderWork } from '@outrigger/controller-manager';
import {
  createEventRecorder,
  LeaderElector,
  leaderIdentity,
  resources,
  Stores,
  type Client,
  type ClusterConfig,
  type EventRecorder,
  type Leadership,
} from '@outrigger/kube';
import type { ClusterIdentity } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { readClusterIdentity } from './cluster-identity.ts';
import { connectCandidate, connectControllers, loadClusterConfig, type Connection } from './connect.ts';
import { chosenControllers, type CloudController } from './controllers.ts';
import { openDelegation } from './delegation.ts';
import type { Foundation } from './foundation.ts';
import { loadCloud, openCloud } from './open-cloud.ts';
import { reloadCloudConfig } from './reload-cloud-config.ts';
import { serve } from './serve.ts';

const NAME = 'cloud-controller-manager';

/** Returns the exit code. Throws what a person has to correct before the program can start. */
export async function runProgram(foundation: Foundation, stop: AbortSignal): Promise<number> {
  // What can be refused is refused before anything is touched.
  const controllers = chosenControllers(foundation.options.cloud.controllers);
  const cloud = await loadCloud(foundation);
  const config = await loadClusterConfig(foundation);

  await using delegation = await openDelegation(foundation, stop);
  await using server = await serve(foundation, delegation.access);
  await delegation.access.ready;
  await using candidate = connectCandidate(foundation, config);
  const { client } = candidate;
  await using elections = recordElections(foundation, client);
  const { clock, logger, options } = foundation;
  const cluster = await readClusterIdentity({ client, name: options.cloud.clusterName, clock, logger, signal: stop });
  // Before leading the cloud may be connected to; afterwards, only the leader asks it anything.
  let leadership: Leadership | undefined;
  await using provider = await openCloud(foundation, cloud, {
    cluster,
    guard: () => leadership?.guard(),
    signal: stop,
  });
  using _reloading = reloadCloudConfig(foundation, provider, cloud.config);
  logger.info('Started', { cluster: cluster.id, provider: provider.name, server: config.server, url: server?.url });

  const end = await runControllerManager<Leadership>({
    name: NAME,
    clock,
    logger,
    metrics: foundation.metrics,
    stop,
    ...(options.leaderElection.leaderElect
      ? { acquire: createAcquire(foundation, candidate, elections.recorder) }
      : {}),
    lead: (_signal, term) => {
      leadership = term;
      return Promise.resolve(lead(foundation, { cluster, config, controllers, provider, term }));
    },
  });
  logger.info('Ended', { how: end.kind });
  return exitCodeOf(end);
}

/** A former leader does not wait longer than this until its last Event is written. */
const LAST_EVENT_MS = 1_000;

/** Events about the Lease, as upstream: over the connection of the candidate, which is not fenced. */
function recordElections(
  { clock, environment, logger, metrics, random }: Foundation,
  client: Client,
): AsyncDisposable & { readonly recorder: EventRecorder } {
  const { hostname: host } = environment;
  const recorder = createEventRecorder({ client, component: NAME, host, clock, logger, metrics, random });
  return { recorder, [Symbol.asyncDispose]: () => recorder.close({ timeoutMs: LAST_EVENT_MS }) };
}

/** Takes part in the election for the Lease. */
function createAcquire(
  foundation: Foundation,
  { client }: Connection,
  events: EventRecorder,
): (signal: AbortSignal) => Promise<Leadership> {
  const { clock, environment, health, logger, metrics, options, random } = foundation;
  const flags = options.leaderElection;
  const elector: LeaderElector = new LeaderElector({
    leases: client.of(resources.leases),
    namespace: flags.leaderElectResourceNamespace,
    name: flags.leaderElectResourceName,
    identity: leaderIdentity(environment.hostname, randomUUID()),
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
        if (note.message.endsWith('became leader') || elector.leader === '') events.record(about, note);
      },
    },
  });
  health.add({ name: 'leaderElection', kinds: ['live'], check: () => elector.check() });
  return (signal) => elector.acquire(signal);
}

interface Leading {
  readonly cluster: ClusterIdentity;
  readonly config: ClusterConfig;
  readonly controllers: readonly CloudController[];
  readonly provider: OpenedProvider;
  readonly term: Leadership | undefined;
}

/** What only a leader has: fenced connections, stores, Events, and the controllers on them. */
function lead(foundation: Foundation, { cluster, config, controllers, provider, term }: Leading): LeaderWork {
  const { clock, environment, logger, metrics, random, redactor } = foundation;
  const owned = new AsyncDisposableStack();
  const { client } = owned.use(connectControllers(foundation, config, term));
  const stores = owned.use(new Stores({ client, clock, logger, metrics, random }));
  const eventsOf = (component: string): EventRecorder =>
    owned.use(
      createEventRecorder({
        client,
        component,
        host: environment.hostname,
        clock,
        logger,
        metrics,
        random,
        redact: (message) => redactor.redact(message),
      }),
    );
  const starting = controllers.filter(({ name, whyNot }) => {
    const reason = whyNot?.(foundation.options);
    if (reason !== undefined) logger.info('Controller not started', { controller: name, reason });
    return reason === undefined;
  });
  const runs = (controller: string): boolean => starting.some(({ name }) => name === controller);
  const context = { ...foundation, client, cluster, stores, eventsOf, provider, runs };
  return {
    controllers: starting.map(({ name, build }) => ({ name, ...build(context) })),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
