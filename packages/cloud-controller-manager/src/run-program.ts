/** The program, in the order in which it comes to life. Reads like a table of contents; the chapters are in the files. */
import { exitCodeOf, HeldTerms, runControllerManager, type RunningController } from '@outrigger/controller-manager';
import {
  createEventRecorder,
  Stores,
  type Client,
  type ClusterConfig,
  type EventRecorder,
  type Leadership,
  type Logger,
} from '@outrigger/kube';
import type { ClusterIdentity } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { Locks } from '@outrigger/controllers';
import { readClusterIdentity } from './cluster-identity.ts';
import { connectCandidate, loadClusterConfig } from './connect.ts';
import type { CloudController } from './controllers.ts';
import { openDelegation } from './delegation.ts';
import { openControllerClients } from './controller-clients.ts';
import { openElections, type Elections } from './elections.ts';
import type { Foundation } from './foundation.ts';
import { loadCloud, openCloud } from './open-cloud.ts';
import { reloadCloudConfig } from './reload-cloud-config.ts';
import { serve } from './serve.ts';
import { chosenWebhooks, serveWebhooks } from './webhooks.ts';
import { planWork, type WorkPlan } from './work-plan.ts';

const NAME = 'cloud-controller-manager';

/** Returns the exit code. Throws what a person has to correct before the program can start. */
export async function runProgram(foundation: Foundation, stop: AbortSignal): Promise<number> {
  // What can be refused is refused before anything is touched.
  const plan = await planWork(foundation);
  const webhooks = chosenWebhooks(foundation.options);
  const cloud = await loadCloud(foundation);
  const config = await loadClusterConfig(foundation);

  let leaderOf = (): string => '';
  await using delegation = await openDelegation(foundation, stop);
  await using server = await serve(foundation, delegation.access, plan.migration, () => leaderOf());
  await delegation.access.ready;
  await using candidate = connectCandidate(foundation, config);
  const { client } = candidate;
  const { dryRun } = foundation.options.debugging;
  // A lock that nothing here runs under is not sought: it would keep the controllers of another manager from their work.
  const migrationLease = plan.migrated.length > 0 ? plan.migration?.leaderName : undefined;
  await using elections = openElections(NAME, foundation, client, migrationLease);
  leaderOf = elections.leader;
  const { clock, logger, options } = foundation;
  const cluster = await readClusterIdentity({ client, name: options.cloud.clusterName, clock, logger, signal: stop });
  // Before leading the cloud may be connected to; afterwards, only the leader asks it anything.
  const terms = new HeldTerms();
  await using provider = await openCloud(foundation, cloud, { cluster, guard: terms.guard, signal: stop });
  using _reloading = reloadCloudConfig(foundation, provider, cloud.config);
  await using _webhooks = await serveWebhooks(foundation, webhooks, { providers: [provider], signal: stop });
  logger.info('Started', { cluster: cluster.id, provider: provider.name, server: config.server, url: server?.url });

  for (const each of plan.notStarted) logger.info('Controller not started', each);

  let leader: Leader | undefined;
  // A dry run needs no lock: it keeps nobody from anything.
  const { main: acquire, migration } = dryRun ? noElections : elections;
  const end = await runControllerManager<Leadership>({
    name: NAME,
    clock,
    logger,
    metrics: foundation.metrics,
    stop,
    ...(acquire && { acquire }),
    lead: (_signal, term) => {
      if (term) terms.add(term);
      leader = becomeLeader(foundation, { cluster, config, plan, provider, terms });
      const { build } = leader;
      return Promise.resolve({
        controllers: [...plan.main, ...(dryRun ? plan.migrated : [])].map((controller) => build(controller)),
        [Symbol.asyncDispose]: leader[Symbol.asyncDispose],
      });
    },
    migrated: migration && {
      acquire: migration,
      lead: (_signal, term) => {
        if (term) terms.add(term);
        const { build } = leader as Leader;
        logger.info('Leader migration: starting the migrated controllers');
        return Promise.resolve({
          controllers: plan.migrated.map((controller) => build(controller, { exclusive: true })),
          // What they use is the leader's, and is closed with it.
          [Symbol.asyncDispose]: () => Promise.resolve(),
        });
      },
    },
  });
  logger.info('Ended', { how: end.kind });
  return exitCodeOf(end);
}

const noElections: Partial<Elections> = {};

interface Leading {
  readonly cluster: ClusterIdentity;
  readonly config: ClusterConfig;
  readonly plan: WorkPlan;
  readonly provider: OpenedProvider;
  readonly terms: HeldTerms;
}

/** What only a leader has, and makes controllers of it. Disposed of when they have all ended. */
interface Leader extends AsyncDisposable {
  readonly build: (controller: CloudController, options?: { readonly exclusive: boolean }) => RunningController;
}

/** Fenced connections, stores and Events. */
function becomeLeader(foundation: Foundation, { cluster, config, plan, provider, terms }: Leading): Leader {
  const { clock, environment, logger, metrics, random, redactor } = foundation;
  const owned = new AsyncDisposableStack();
  const clients = owned.use(openControllerClients(foundation, config, terms));
  const stores = owned.use(new Stores({ client: clients.shared, clock, logger, metrics, random }));
  const recorderOf = (component: string, client: Client): EventRecorder => {
    if (foundation.options.debugging.dryRun) return loggedEvents(logger.with({ component }));
    return owned.use(
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
  };
  const names = new Set([...plan.main, ...plan.migrated].map(({ name }) => name));
  const runs = (controller: string): boolean => names.has(controller);
  const loadBalancerLocks = new Locks();
  const context = { ...foundation, cluster, loadBalancerLocks, stores, provider, runs };
  return {
    build: ({ account, build, name }, { exclusive } = { exclusive: false }) => {
      const client = clients.of(account);
      const eventsOf = (component: string): EventRecorder => recorderOf(component, client);
      return { name, ...build({ ...context, client, eventsOf, exclusive }) };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** What a dry run would tell. */
function loggedEvents(logger: Logger): EventRecorder {
  return {
    record: ({ metadata = {} }, { message, reason, type }) =>
      logger.info('Event planned, and not recorded', { name: metadata.name, type, reason, message }),
  };
}
