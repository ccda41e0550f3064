/** All that the program asks of the API server, from its flags: its own needs, and those of the controllers that would start. */
import { authenticationFlags, FlagError, servingFlags, type ParsedFlags } from '@outrigger/controller-manager';
import { leaseRules, resources, tokenRules, type ApiRule } from '@outrigger/kube';
import { ACCOUNT_NAMESPACE } from '../cluster/controller-clients.ts';
import { cloudFlags } from '../options/cloud-flags.ts';
import { genericFlags } from '../options/generic-flags.ts';
import { ipamFlags } from '../options/ipam-flags.ts';
import { leaderElectionFlags } from '../options/leader-election-flags.ts';
import { leaderMigrationFlags } from '../options/leader-migration-flags.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import type { WorkPlan } from '../controllers/work-plan.ts';

/** What decides about the rules. */
export type RuleOptions = Pick<
  ProgramOptions,
  'authentication' | 'cloud' | 'generic' | 'ipam' | 'leaderElection' | 'leaderMigration' | 'of' | 'serving'
>;

/** A role that every cluster has. */
interface BuiltInRole {
  readonly name: string;
  /** Where it is bound; without, in the whole cluster. */
  readonly namespace?: string;
}

export interface ProgramAccess {
  /** What the program asks as itself. */
  readonly rules: readonly ApiRule[];
  /** What controllers ask under accounts of their own, by name of the account. Empty where they ask as the program. */
  readonly accounts: ReadonlyMap<string, readonly ApiRule[]>;
  readonly builtInRoles: readonly BuiltInRole[];
}

const SYSTEM = 'kube-system';

/** Its UID is the identity of the cluster. To whom a namespace is, as an object, is decided within it. */
const clusterIdentityRule: ApiRule = {
  resource: resources.namespaces,
  verbs: ['get'],
  namespace: SYSTEM,
  names: [SYSTEM],
};

/** Of a set that has all groups of the program. Throws a `FlagError` for `--config`, which takes part in the parsing. */
export function ruleOptionsOf(parsed: ParsedFlags): RuleOptions {
  if (parsed.of(genericFlags).config !== '') {
    throw new FlagError('invalid-flag', '--config: the file is not read by this command; pass its settings as flags');
  }
  return {
    authentication: parsed.of(authenticationFlags),
    cloud: parsed.of(cloudFlags),
    generic: parsed.of(genericFlags),
    ipam: parsed.of(ipamFlags),
    leaderElection: parsed.of(leaderElectionFlags),
    leaderMigration: parsed.of(leaderMigrationFlags),
    of: (group) => parsed.of(group),
    serving: parsed.of(servingFlags),
  };
}

/** `plan`: from the same options. */
export function programAccess(options: RuleOptions, plan: Omit<WorkPlan, 'notStarted'>): ProgramAccess {
  const { main, migrated, migration } = plan;
  const { leaderElect, leaderElectResourceName, leaderElectResourceNamespace: namespace } = options.leaderElection;
  const leases = leaderElect ? [leaderElectResourceName, ...(migration ? [migration.leaderName] : [])] : [];
  const own: ApiRule[] = [];
  const accounts = new Map<string, ApiRule[]>();
  for (const { account, rules, rulesWith } of [...main, ...migrated]) {
    for (const rule of [...rules, ...(rulesWith?.(options) ?? [])]) {
      if (rule.shared || account === undefined || !options.generic.useServiceAccountCredentials) own.push(rule);
      else accounts.set(account, [...(accounts.get(account) ?? []), rule]);
    }
  }
  return {
    rules: [
      clusterIdentityRule,
      ...leases.flatMap((name) => leaseRules({ name, namespace })),
      ...own,
      ...(accounts.size === 0 ? [] : tokenRules(ACCOUNT_NAMESPACE, [...accounts.keys()].toSorted())),
    ],
    accounts,
    builtInRoles: builtInRolesOf(options),
  };
}

/** Who callers are, and what they may ask for: needed where something but health is served. */
function builtInRolesOf({ authentication, serving }: RuleOptions): readonly BuiltInRole[] {
  return [
    ...(serving.securePort === 0 ? [] : [{ name: 'system:auth-delegator' }]),
    ...(authentication.authenticationSkipLookup
      ? []
      : [{ name: 'extension-apiserver-authentication-reader', namespace: SYSTEM }]),
  ];
}
