/** The program, in the order in which it comes to life. Reads like a table of contents; the chapters are in the files. */
import { exitCodeOf, HeldTerms, runControllerManager, type RunningController } from '@outrigger/controller-manager';
import {
  createEventRecorder,
  kubeSystem,
  Stores,
  watchEventLoop,
  type Client,
  type ClusterConfig,
  type EventRecorder,
  type RunningEventRecorder,
  type Leadership,
  type Logger,
} from '@outrigger/kube';
import type { ClusterIdentity } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { Locks } from '@outrigger/controllers';
import { DryRunOnce } from './dry-run-once.ts';
import { readClusterIdentity } from '../cluster/cluster-identity.ts';
import { connectCandidate, loadClusterConfig } from '../cluster/connect.ts';
import type { CloudController } from '../controllers/cloud-controller.ts';
import { openDelegation } from '../serving/delegation.ts';
import { buildForEach, type ProviderMember } from '../controllers/each-provider.ts';
import { openElections, type Elections } from '../cluster/elections.ts';
import { openControllerClients } from '../cluster/controller-clients.ts';
import type { Environment } from './environment.ts';
import type { Foundation } from './foundation.ts';
import { CloudHealth } from '../cloud/cloud-health.ts';
import { loadClouds, openClouds, type Cloud } from '../cloud/open-cloud.ts';
import { checkCallLimits } from '../options/call-limits.ts';
import { version } from './version.ts';
import { warnOfReadableSecrets, type SecretFile } from './readable-secrets.ts';
import { reloadCloudConfigs } from '../cloud/reload-cloud-config.ts';
import { serve } from '../serving/serve.ts';
import { checkWebhooks, chosenWebhooks, serveWebhooks } from '../webhooks/webhooks.ts';
import { planWork, type WorkPlan } from '../controllers/work-plan.ts';

const NAME = 'cloud-controller-manager';

/** Returns the exit code. Throws what a person has to correct before the program can start. */
export async function runProgram(
  foundation: Foundation & { readonly environment: Environment },
  stop: AbortSignal,
): Promise<number> {
  // What can be refused is refused before anything is touched.
  const plan = await planWork(foundation);
  using _watched = watched(foundation);
  const webhooks = chosenWebhooks(foundation.options);
  await checkWebhooks(foundation, webhooks);
  const clouds = await loadClouds(foundation);
  using _following = followConfig(foundation, clouds);
  const config = await loadClusterConfig(foundation);
  const flags = foundation.options.changedFlags.join(' ');
  foundation.logger.info('Starting', { version, node: process.version, flags });

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
  // Told while the clouds are opened, too, which may take a minute: no lock is needed to tell of it. Where each controller has an account
  // of its own, the program's may not write these Events.
  const { useServiceAccountCredentials } = foundation.options.generic;
  await using cloudEvents =
    dryRun || useServiceAccountCredentials ? undefined : recorderOf(foundation, { client, component: NAME });
  const cloudHealth = new CloudHealth({
    ...foundation,
    onEvent: (note) => cloudEvents?.record(kubeSystem, note),
  });
  await using opened = await openClouds(foundation, clouds, { cloudHealth, cluster, leadership: terms, signal: stop });
  const { providers } = opened;
  using _reloading = reloadCloudConfigs(foundation, providers, clouds);
  await using _webhooks = await serveWebhooks(foundation, webhooks, { providers, signal: stop });
  await warnOfReadableSecrets(secretFilesOf(foundation, clouds, providers), {
    group: process.getgid?.(),
    logger,
    workingDirectory: foundation.environment.workingDirectory,
  });
  logger.info('Started', {
    cluster: cluster.id,
    provider: providers.map(({ name }) => name).join(),
    server: config.server,
    url: server?.url,
  });

  for (const each of plan.notStarted) logger.info('Controller not started', each);

  using once = foundation.options.debugging.once
    ? new DryRunOnce({ ...foundation, write: (text) => void foundation.environment.stdout.write(text) })
    : undefined;
  let leader: Leader | undefined;
  // A dry run needs no lock: it keeps nobody from anything.
  const { main: acquire, migration } = dryRun ? noElections : elections;
  const end = await runControllerManager<Leadership>({
    name: NAME,
    clock,
    logger,
    metrics: foundation.metrics,
    health: foundation.health,
    stop: once ? AbortSignal.any([stop, once.signal]) : stop,
    ...(acquire && { acquire }),
    lead: (_signal, term) => {
      if (term) terms.add(term);
      leader = becomeLeader(foundation, { cluster, config, plan, providers, terms });
      const { build } = leader;
      const controllers = [...plan.main, ...(dryRun ? plan.migrated : [])].flatMap((controller) => build(controller));
      void once?.settle(leader.whenSynced(stop), providers, stop);
      return Promise.resolve({
        controllers,
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
          controllers: plan.migrated.flatMap((controller) => build(controller, { exclusive: true })),
          // What they use is the leader's, and is closed with it.
          [Symbol.asyncDispose]: () => Promise.resolve(),
        });
      },
    },
  });
  logger.info('Ended', { how: end.kind });
  return once && end.kind === 'stopped' && once.signal.aborted ? once.code : exitCodeOf(end);
}

/** Says when the event loop is held, until it is disposed of. */
function watched({ clock, logger, metrics }: Foundation): Disposable {
  const ended = new AbortController();
  const { signal } = ended;
  watchEventLoop({ clock, logger, metrics, signal }).catch((error: unknown) => {
    logger.error('Monitoring of the event loop has ended', { error });
  });
  return { [Symbol.dispose]: () => ended.abort(new DOMException('the program ends', 'AbortError')) };
}

/** Those that flags name, and those beside the cloud config, such as OpenStack's `clouds.yaml`. */
function secretFilesOf(
  { options }: Foundation,
  clouds: readonly Cloud[],
  providers: readonly OpenedProvider[],
): readonly SecretFile[] {
  const { authentication, authorization, client, serving, webhook } = options;
  return [
    ...clouds.map(({ config }) => ({ flag: '--cloud-config', path: config?.fileName ?? '' })),
    { flag: '--kubeconfig', path: client.kubeconfig },
    { flag: '--authentication-kubeconfig', path: authentication.authenticationKubeconfig },
    { flag: '--authorization-kubeconfig', path: authorization.authorizationKubeconfig },
    { flag: '--tls-private-key-file', path: serving.tlsPrivateKeyFile },
    { flag: '--webhook-tls-private-key-file', path: webhook.webhookTlsPrivateKeyFile },
    ...providers
      .flatMap((provider) => provider.watchedFiles())
      .map((file) => ({ flag: '--cloud-config', path: file, isWatched: true })),
  ].filter(({ path }) => path !== '');
}

/** What `--config` may change while the program runs. */
function followConfig(foundation: Foundation, clouds: readonly Cloud[]): Disposable {
  return foundation.live.follow({
    ...foundation,
    apply: (next, before) => {
      checkCallLimits(
        next,
        clouds.map(({ provider }) => provider),
      );
      // Else what was set by hand since holds on.
      if (next.logs.v !== before.logs.v) foundation.setVerbosity(next.logs.v);
    },
  });
}

const noElections: Partial<Elections> = {};

interface Leading {
  readonly cluster: ClusterIdentity;
  readonly config: ClusterConfig;
  readonly plan: WorkPlan;
  readonly providers: readonly OpenedProvider[];
  readonly terms: HeldTerms;
}

/** What only a leader has, and makes controllers of it. Disposed of when they have all ended. */
interface Leader extends AsyncDisposable {
  readonly build: (
    controller: CloudController,
    options?: { readonly exclusive: boolean },
  ) => readonly RunningController[];
  /** Resolves when what the controllers have opened is known. */
  readonly whenSynced: (signal: AbortSignal) => Promise<void>;
}

/** Fenced connections, stores and Events. */
function becomeLeader(foundation: Foundation, { cluster, config, plan, providers, terms }: Leading): Leader {
  const { clock, logger, metrics, random } = foundation;
  const owned = new AsyncDisposableStack();
  const clients = owned.use(openControllerClients(foundation, config, terms));
  const stores = owned.use(new Stores({ client: clients.shared, clock, logger, metrics, random }));
  const eventsFor = (component: string, client: Client): EventRecorder => {
    if (foundation.options.debugging.dryRun) return loggedEvents(logger.with({ component }));
    return owned.use(recorderOf(foundation, { client, component }));
  };
  const names = new Set([...plan.main, ...plan.migrated].map(({ name }) => name));
  const runs = (controller: string): boolean => names.has(controller);
  const context = { ...foundation, cluster, stores, runs };
  const members = providers.map((provider, i): ProviderMember => {
    return { provider, isDefault: i === 0, loadBalancerLocks: new Locks() };
  });
  return {
    build: (controller, { exclusive } = { exclusive: false }) => {
      const client = clients.of(controller.account);
      // One for all providers: what repeats is folded wherever it comes from.
      const recorders = new Map<string, EventRecorder>();
      const eventsOf = (component: string): EventRecorder => {
        const recorder = recorders.get(component) ?? eventsFor(component, client);
        recorders.set(component, recorder);
        return recorder;
      };
      return buildForEach(controller, { ...context, client, eventsOf, exclusive }, members);
    },
    whenSynced: (signal) => stores.whenSynced(signal),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

function recorderOf(
  { clock, environment, logger, metrics, random, redactor }: Foundation,
  { client, component }: { readonly client: Client; readonly component: string },
): RunningEventRecorder {
  return createEventRecorder({
    client,
    component,
    host: environment.hostname,
    clock,
    logger,
    metrics,
    random,
    redact: (message) => redactor.redact(message),
  });
}

/** What a dry run would tell. */
function loggedEvents(logger: Logger): EventRecorder {
  return {
    record: ({ metadata = {} }, { message, reason, type }) =>
      logger.info('Event planned, and not recorded', { name: metadata.name, type, reason, message }),
  };
}
