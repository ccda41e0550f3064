/** The controllers of this program, and which of them the command line turns on. */
import type { Capabilities, ClusterIdentity } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import {
  FlagError,
  selectControllers,
  type ControllerName,
  type FlagGroup,
  type RunningController,
} from '@outrigger/controller-manager';
import {
  cloudIpamRules,
  nodeControllerRules,
  nodeIpamControllerRules,
  nodeLifecycleControllerRules,
  orphanControllerRules,
  pvLabelControllerRules,
  routeControllerRules,
  serviceControllerRules,
  type Journal,
  type Locks,
} from '@outrigger/controllers';
import type { ApiRule, Client, EventRecorder, Metrics, Stores } from '@outrigger/kube';
import type { Explanations } from '../explain/explanations.ts';
import type { Foundation } from '../program/foundation.ts';
import { buildIpamController, whyNoIpam } from './ipam-controller.ts';
import { buildNodeController } from './node-controller.ts';
import { IPAM_ALIAS, IPAM_CONTROLLER } from '../options/ipam-flags.ts';
import { buildNodeLifecycleController } from './node-lifecycle-controller.ts';
import { buildOrphanController, ORPHAN_CONTROLLER } from './orphan-controller.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import { buildPvLabelController, PV_LABEL_CONTROLLER } from './pv-label-controller.ts';
import { buildRouteController, ROUTE_CONTROLLER, whyNoRoutes } from './route-controller.ts';
import { buildServiceController } from './service-controller.ts';

/** What a controller is built from. All of it ends after the controllers have. */
export interface LeaderContext extends Omit<Foundation, 'explanations' | 'journal' | 'metrics'> {
  readonly metrics: Metrics;
  readonly journal: Pick<Journal, 'dryRun' | 'of'>;
  readonly explanations: Pick<Explanations, 'follow'>;
  readonly client: Client;
  readonly stores: Stores;
  /** Makes the recorder of a controller, under whose name a person sees the Events. */
  readonly eventsOf: (controller: string) => EventRecorder;
  /** The one that this controller is built for, of those of the program. */
  readonly provider: OpenedProvider;
  /** All of the program, that one among them. */
  readonly providers: readonly OpenedProvider[];
  /** The first of them: it has what belongs to none in particular. */
  readonly isDefault: boolean;
  readonly cluster: ClusterIdentity;
  /** Of whoever changes load balancers. */
  readonly loadBalancerLocks: Locks;
  /** Whether this controller runs in this program. */
  readonly runs: (controller: string) => boolean;
  /** Under a lock that other managers seek as well before they run a controller of this name. */
  readonly exclusive: boolean;
}

/** One of the controllers that a program is made of. Its name and its aliases are what `--controllers` takes. */
export interface CloudController extends ControllerName {
  /** Flags of its own, which the program takes besides; `options.of(flags)` is what they say. Default: none. */
  readonly flags?: FlagGroup<object>;
  /** Why it does not start with these options, although it was chosen; `undefined` when it does. Default: it always does. */
  readonly whyNot?: (options: Pick<ProgramOptions, 'cloud' | 'of'>) => string | undefined;
  /** Service account under which it asks with `--use-service-account-credentials`. Default: the program's own. */
  readonly account?: string;
  /** All that it asks of the API server: what is granted to the program follows from it. */
  readonly rules: readonly ApiRule[];
  /** What it asks for besides, with some flags only. */
  readonly rulesWith?: (options: Pick<ProgramOptions, 'ipam' | 'of'>) => readonly ApiRule[];
  /** What of a cloud it uses. Default: nothing. */
  readonly uses?: readonly (keyof Capabilities)[];
  /** What it uses besides, with some flags only. */
  readonly usesWith?: (options: Pick<ProgramOptions, 'ipam' | 'of'>) => readonly (keyof Capabilities)[];
  /** `cluster`: built once, with the first provider. Default: built once for each provider. */
  readonly scope?: 'cluster';
  readonly build: (context: LeaderContext) => Omit<RunningController, 'name'>;
}

/**
 * Names and aliases are upstream's (k8s.io/cloud-provider `names`). Besides, `service-controller` and `route-controller`:
 * upstream's own default configuration of leader migration says so, and means nobody. Accounts are upstream's too.
 */
export const defaultControllers: readonly CloudController[] = [
  {
    name: 'cloud-node-controller',
    aliases: ['cloud-node'],
    account: 'node-controller',
    rules: nodeControllerRules,
    uses: ['instances'],
    build: buildNodeController,
  },
  {
    name: 'cloud-node-lifecycle-controller',
    aliases: ['cloud-node-lifecycle'],
    account: 'node-controller',
    rules: nodeLifecycleControllerRules,
    uses: ['instances'],
    build: buildNodeLifecycleController,
  },
  {
    name: 'service-lb-controller',
    aliases: ['service', 'service-controller'],
    account: 'service-controller',
    rules: serviceControllerRules,
    uses: ['loadBalancers'],
    build: buildServiceController,
  },
  {
    name: ROUTE_CONTROLLER,
    aliases: ['route', 'route-controller'],
    whyNot: whyNoRoutes,
    account: 'route-controller',
    rules: routeControllerRules,
    uses: ['routes'],
    build: buildRouteController,
  },
  {
    name: ORPHAN_CONTROLLER,
    aliases: ['orphans'],
    account: 'orphan-controller',
    rules: orphanControllerRules,
    uses: ['loadBalancers', 'routes'],
    build: buildOrphanController,
  },
  {
    name: IPAM_CONTROLLER,
    aliases: [IPAM_ALIAS],
    disabledByDefault: true,
    scope: 'cluster',
    whyNot: whyNoIpam,
    account: 'node-controller',
    rules: nodeIpamControllerRules,
    rulesWith: ({ ipam }) => (ipam.cidrAllocatorType === 'RangeAllocator' ? [] : cloudIpamRules),
    usesWith: ({ ipam }) => (ipam.cidrAllocatorType === 'RangeAllocator' ? [] : ['instances', 'podRanges']),
    build: buildIpamController,
  },
  {
    name: PV_LABEL_CONTROLLER,
    // What it was called while cloud-controller-managers had it, in Kubernetes 1.8 to 1.13.
    aliases: ['pvlabel'],
    disabledByDefault: true,
    rules: pvLabelControllerRules,
    uses: ['volumes'],
    build: buildPvLabelController,
  },
];

/** Throws a `FlagError` for a name that none of `known` has, and when nothing is left to run. */
export function chosenControllers(
  known: readonly CloudController[],
  selection: readonly string[],
): readonly CloudController[] {
  const chosen = selectControllers(known, selection);
  if (chosen.length === 0) throw new FlagError('invalid-flag', '--controllers turns every controller off');
  return chosen;
}

/** The flags of controllers, each group once, however many of them share it. */
export function controllerFlags(known: readonly CloudController[] = defaultControllers): readonly FlagGroup<object>[] {
  return [...new Set(known.flatMap(({ flags }) => flags ?? []))];
}
