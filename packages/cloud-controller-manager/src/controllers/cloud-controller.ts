/** What a controller of this program is, and what it is built from. */
import type { Capabilities, ClusterIdentity } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import type { ControllerName, FlagGroup, RunningController } from '@outrigger/controller-manager';
import type { Journal, Locks } from '@outrigger/controllers';
import type { ApiRule, Client, EventRecorder, Metrics, Stores } from '@outrigger/kube';
import type { Explanations } from '../explain/explanations.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import type { Foundation } from '../program/foundation.ts';

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
