/** The whole command line: all groups of flags, and what holds between them. */
import {
  authenticationFlags,
  authorizationFlags,
  bool,
  FlagError,
  FlagSet,
  formatGoDuration,
  listFlagValues,
  logFlags,
  servingFlags,
  type AuthenticationOptions,
  type AuthorizationOptions,
  type FeatureGates,
  type FlagGroup,
  type FlagPreset,
  type LogOptions,
  type ParsedFlags,
  type ServingOptions,
} from '@outrigger/controller-manager';
import { parseClusterCidrs } from '@outrigger/controllers';
import { parseProviderSpecs } from '../cloud/provider-specs.ts';
import { clientFlags, type ClientOptions } from './client-flags.ts';
import { cloudFlags, type CloudOptions } from './cloud-flags.ts';
import { debuggingFlags, type DebuggingOptions } from './debugging-flags.ts';
import { readGates } from './feature-gates.ts';
import { genericFlags, type GenericOptions } from './generic-flags.ts';
import { checkIpam, ipamFlags, type IpamOptions } from './ipam-flags.ts';
import { leaderElectionFlags, type LeaderElectionOptions } from './leader-election-flags.ts';
import { leaderMigrationFlags, type LeaderMigrationOptions } from './leader-migration-flags.ts';
import { nodeFlags, type NodeOptions } from './node-flags.ts';
import { nodeLifecycleFlags, type NodeLifecycleOptions } from './node-lifecycle-flags.ts';
import { orphanFlags, type OrphanOptions } from './orphan-flags.ts';
import { routeFlags, type RouteOptions } from './route-flags.ts';
import { serviceFlags, type ServiceOptions } from './service-flags.ts';
import { checkWebhook, webhookFlags, type WebhookOptions } from './webhook-flags.ts';

interface GlobalOptions {
  help: boolean;
  version: boolean;
}

const globalFlags: FlagGroup<GlobalOptions> = {
  title: 'Global',
  flags: {
    help: { type: bool, default: false, shorthand: 'h', usage: 'Print this help and exit.' },
    version: { type: bool, default: false, usage: 'Print the version and exit.' },
  },
};

/** All that the command line says. */
export interface ProgramOptions {
  readonly global: Readonly<GlobalOptions>;
  readonly generic: Readonly<GenericOptions>;
  readonly debugging: Readonly<DebuggingOptions>;
  readonly leaderMigration: Readonly<LeaderMigrationOptions>;
  readonly webhook: Readonly<WebhookOptions>;
  readonly authentication: Readonly<AuthenticationOptions>;
  readonly gates: FeatureGates;
  /** What flags say that are a controller's own. Throws a `TypeError` for a group that no controller of the program has. */
  readonly of: ParsedFlags['of'];
  /** The value of one flag, by its name; `undefined` for one that there is not. */
  readonly valueOf: (flag: string) => unknown;
  /** Name and value of every flag, for people. */
  readonly flagValues: readonly (readonly [name: string, value: string])[];
  /** Of those, the flags whose value is not their default, as a command line. */
  readonly changedFlags: readonly string[];
  readonly cloud: Readonly<CloudOptions>;
  readonly client: Readonly<ClientOptions>;
  readonly leaderElection: Readonly<LeaderElectionOptions>;
  readonly node: Readonly<NodeOptions>;
  readonly nodeLifecycle: Readonly<NodeLifecycleOptions>;
  readonly route: Readonly<RouteOptions>;
  readonly ipam: Readonly<IpamOptions>;
  readonly service: Readonly<ServiceOptions>;
  readonly orphans: Readonly<OrphanOptions>;
  readonly serving: Readonly<ServingOptions>;
  readonly authorization: Readonly<AuthorizationOptions>;
  readonly logs: Readonly<LogOptions>;
  /** For the log: deprecated flags that were used, and what was accepted without an effect. */
  readonly warnings: readonly string[];
}

/** All but those of every program: a command that is given the program's flags takes these. */
export const programGroups: readonly FlagGroup<object>[] = [
  cloudFlags,
  genericFlags,
  clientFlags,
  leaderElectionFlags,
  leaderMigrationFlags,
  nodeFlags,
  nodeLifecycleFlags,
  routeFlags,
  ipamFlags,
  serviceFlags,
  orphanFlags,
  servingFlags,
  authenticationFlags,
  authorizationFlags,
  webhookFlags,
  debuggingFlags,
  logFlags,
];

/** `own`: flags of the program's controllers. Throws a `TypeError` for two flags of one name. */
export function flagSetOf(own: readonly FlagGroup<object>[]): FlagSet {
  return new FlagSet([...programGroups, ...own, globalFlags]);
}

export const programFlags: FlagSet = flagSetOf([]);

/** client-go's factor between the retry period and its longest jittered value. */
const RETRY_JITTER = 1.2;

/** `--config` on this command line; empty without. Throws a `FlagError`. */
export function configFileOf(args: readonly string[], flags: FlagSet = programFlags): string {
  const parsed = flags.parse(args);
  const { help, version } = parsed.of(globalFlags);
  return help || version ? '' : parsed.of(genericFlags).config;
}

/**
 * `args` without the program's name; `presets`: what the file of `--config` says. Throws a `FlagError`. With --help or
 * --version nothing else is checked.
 */
export function readProgramOptions(
  args: readonly string[],
  presets: readonly FlagPreset[] = [],
  flags: FlagSet = programFlags,
): ProgramOptions {
  const parsed = flags.parse(args, presets);
  const generic = parsed.of(genericFlags);
  const gates = readGates(generic.featureGates);
  const flagValues = listFlagValues(flags, parsed);
  const defaults = new Map(listFlagValues(flags, flags.parse([])));
  const options: ProgramOptions = {
    global: parsed.of(globalFlags),
    generic,
    debugging: parsed.of(debuggingFlags),
    leaderMigration: parsed.of(leaderMigrationFlags),
    webhook: parsed.of(webhookFlags),
    authentication: parsed.of(authenticationFlags),
    gates,
    of: (group) => parsed.of(group),
    valueOf: (flag) => parsed.valueOf(flag),
    flagValues,
    changedFlags: flagValues.flatMap(([name, value]) => {
      if (defaults.get(name) === value) return [];
      return [`--${name}=${value.replace(/^\[(.*)\]$/u, '$1')}`];
    }),
    cloud: parsed.of(cloudFlags),
    client: parsed.of(clientFlags),
    leaderElection: parsed.of(leaderElectionFlags),
    node: parsed.of(nodeFlags),
    nodeLifecycle: parsed.of(nodeLifecycleFlags),
    route: parsed.of(routeFlags),
    ipam: parsed.of(ipamFlags),
    service: parsed.of(serviceFlags),
    orphans: parsed.of(orphanFlags),
    serving: parsed.of(servingFlags),
    authorization: parsed.of(authorizationFlags),
    logs: parsed.of(logFlags),
    warnings: [...parsed.warnings, ...gates.warnings, ...unreadFiles(parsed.of(leaderMigrationFlags))],
  };
  if (!options.global.help && !options.global.version) {
    checkCloud(options.cloud);
    checkDebugging(options.debugging);
    checkIpam(options.cloud, options.ipam);
    checkLeaderElection(options.leaderElection);
    checkLeaderMigration(options);
    checkServing(options.serving);
    checkWebhook(options.webhook);
    checkAuthentication(options);
  }
  return options;
}

function checkCloud({ cloudProvider, clusterCidr, clusterName }: CloudOptions): void {
  if (cloudProvider === '') {
    throw new FlagError('invalid-flag', '--cloud-provider is not set: name a built-in provider, a package or a module');
  }
  parseProviderSpecs(cloudProvider);
  if (clusterName === '') throw new FlagError('invalid-flag', '--cluster-name must not be empty');
  try {
    parseClusterCidrs(clusterCidr);
  } catch (error) {
    throw new FlagError('invalid-flag', `--cluster-cidr: ${(error as Error).message}`);
  }
}

function checkDebugging({ dryRun, once }: DebuggingOptions): void {
  if (once && !dryRun) throw new FlagError('invalid-flag', '--once needs --dry-run');
}

function checkLeaderElection(options: LeaderElectionOptions): void {
  if (!options.leaderElect) return;
  const { leaderElectLeaseDuration: lease, leaderElectRenewDeadline: renew, leaderElectRetryPeriod: retry } = options;
  if (lease <= renew) {
    throw new FlagError(
      'invalid-flag',
      `--leader-elect-lease-duration (${formatGoDuration(lease)}) must be longer than --leader-elect-renew-deadline (${formatGoDuration(renew)})`,
    );
  }
  if (renew <= retry * RETRY_JITTER) {
    throw new FlagError(
      'invalid-flag',
      `--leader-elect-renew-deadline (${formatGoDuration(renew)}) must be longer than ${RETRY_JITTER} × --leader-elect-retry-period (${formatGoDuration(retry)})`,
    );
  }
  if (options.leaderElectResourceName === '' || options.leaderElectResourceNamespace === '') {
    throw new FlagError(
      'invalid-flag',
      '--leader-elect-resource-name and --leader-elect-resource-namespace must not be empty',
    );
  }
}

/** Without a lock two managers would work at once, which is what migration is there to prevent: not passed over in silence. */
function checkLeaderMigration({ leaderElection, leaderMigration }: ProgramOptions): void {
  if (!leaderMigration.enableLeaderMigration || leaderElection.leaderElect) return;
  throw new FlagError('invalid-flag', '--enable-leader-migration needs --leader-elect=true');
}

/** Upstream says nothing, and hands nothing over: k8s.io/controller-manager `LeaderMigrationOptions.ApplyTo`. */
function unreadFiles({ enableLeaderMigration, leaderMigrationConfig }: LeaderMigrationOptions): readonly string[] {
  if (enableLeaderMigration || leaderMigrationConfig === '') return [];
  return ['--leader-migration-config is ignored without --enable-leader-migration: no controller is migrated'];
}

function checkAuthentication({ authentication, gates }: ProgramOptions): void {
  const { requestheaderUidHeaders, requestheaderUsernameHeaders } = authentication;
  if (requestheaderUidHeaders.length > 0 && !gates.enabled('RemoteRequestHeaderUID')) {
    const text = '--requestheader-uid-headers needs --feature-gates=RemoteRequestHeaderUID=true';
    throw new FlagError('invalid-flag', text);
  }
  if (authentication.requestheaderClientCaFile !== '' && requestheaderUsernameHeaders.length === 0) {
    const text = '--requestheader-client-ca-file is set without --requestheader-username-headers';
    throw new FlagError('invalid-flag', text);
  }
}

function checkServing({ tlsCertFile, tlsPrivateKeyFile }: ServingOptions): void {
  if ((tlsCertFile === '') === (tlsPrivateKeyFile === '')) return;
  const [set, missing] = tlsCertFile === '' ? ['private-key', 'cert'] : ['cert', 'private-key'];
  throw new FlagError('invalid-flag', `--tls-${set}-file is set without --tls-${missing}-file`);
}
