/** What the kinds of parts of both APIs share: the setup, what was learned before a look, and what a Service asks for. */
import type { BackEnd, CallContext, Clock, DesiredLoadBalancer, Owner } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { ServiceSettings } from './annotations/service-settings.ts';
import type { InUse } from './in-use.ts';
import type { Closed, LeftOut } from './left-out.ts';
import type { Elbv2Look } from './observe/elbv2-look.ts';
import type { Tags } from './ownership.ts';
import type { SubnetLeave } from './subnets/network-facts.ts';
import type { NodeRules, SeenNodeRules } from './security-groups/node-rules.ts';

/** Kinds of parts, in the order in which they are made. */
export const SECURITY_GROUP = 'security-group';
export const TARGET_GROUP = 'target-group';
export const LOAD_BALANCER = 'load-balancer';
export const LISTENER = 'listener';
export const CLASSIC = 'classic-load-balancer';

/** In plans, and among the security groups of an observed load balancer: the cluster's shared back-end group, whatever its ID. */
export const SHARED_GROUP = 'shared';

/** What plans are made from, beside the parts. */
export interface LoadBalancerFacts {
  readonly clusterTags: Tags;
  readonly vpcId: string;
  /**
   * The subnets that the Service gets: IDs, one of a zone, in the order of its addresses. `current`: where its load balancer is already.
   * `leave`: which of those that it names it may have; default: all. Throws a `CloudError`.
   */
  readonly subnetsFor: (
    settings: ServiceSettings,
    current?: readonly string[],
    leave?: SubnetLeave,
  ) => readonly string[];
  /** Address ranges of these subnets, of both families. */
  readonly rangesOf: (subnets: readonly string[]) => readonly string[];
}

/** How nodes let in what comes from Network Load Balancers: by a group that all of these share, and one rule for it in each group of nodes. */
export interface BackEndAccess {
  /** `false`: the administrator opens the nodes, and there is no shared group. */
  readonly usesShared: boolean;
  /** Of the shared group, as the last look found it; `undefined`: there is none. */
  readonly sharedId: string | undefined;
  /** With its ID; made where there is none. It stays while this is under way: no list shows yet what is being made with it. */
  useShared<T>(use: (id: string) => Promise<T>, call: CallContext): Promise<T>;
  /** Removes the shared group, which no load balancer has any more; not while `useShared` is under way. `false`: network interfaces of one that has gone hold it still. */
  releaseShared(call: CallContext): Promise<boolean>;
  /** In a look, so that `isOpen` can tell. */
  learn(instanceIds: readonly string[], call: CallContext): Promise<void>;
  /** The same for `rulesFor`, of the targets of one that has no security group. */
  learnRules(instanceIds: readonly string[], call: CallContext): Promise<void>;
  /** Whether these instances let the group in, as far as is known; those of which it is not clear by which group do not count. */
  isOpen(groupId: string, instanceIds: readonly string[]): boolean;
  /** Lets in what comes from this group where these instances are. Gives back those where that is not to be, when it has gone through all. */
  open(groupId: string, instanceIds: readonly string[], call: CallContext): Promise<Closed | undefined>;
  /** What the last look has found of rules for the NLB of this name alone, which cloud-provider-aws makes. `instanceIds`: its targets. */
  rulesFor(loadBalancer: string, instanceIds: readonly string[]): SeenNodeRules;
  /** Where these instances are, nodes have exactly these for it; elsewhere none. Gives back as `open`. */
  setRules(
    loadBalancer: string,
    rules: NodeRules,
    instanceIds: readonly string[],
    call: CallContext,
  ): Promise<Closed | undefined>;
  /** What other nodes have for it, these have too. `false`: they have nothing for it. Gives back as `open`. */
  spreadRules(loadBalancer: string, instanceIds: readonly string[], call: CallContext): Promise<Closed | boolean>;
  /**
   * No node has any for it, which has gone; once is enough. `hadNoGroups`: it was let in by such rules alone, so that those are looked
   * for that are in groups of nodes which it has no more.
   */
  clearRules(loadBalancer: string, hadNoGroups: boolean, call: CallContext): Promise<void>;
  /** Whether this process has done that of late, and nothing was left. */
  hasCleared(loadBalancer: string): boolean;
  /** Whether there is a security group of the Service itself, which goes after its load balancer: a Service whose load balancer can have none gets none. */
  hasOwnGroup(owner: Owner): boolean;
}

/** Of all kinds. */
export interface KindSetup {
  readonly client: AwsClient;
  readonly clock: Clock;
  /** As of the last look. Throws a `CloudError` where they could not be found out. */
  readonly facts: () => LoadBalancerFacts;
  /** What the Service asks for. Throws a `CloudError` for what cannot be. */
  readonly settingsOf: (desired: Pick<DesiredLoadBalancer, 'service'>) => ServiceSettings;
  readonly access: BackEndAccess;
  /** Those of which the provider ID names an instance, each once; not Fargate's. */
  readonly instanceIdsOf: (backEnds: readonly BackEnd[]) => readonly string[];
  readonly look: Elbv2Look;
  readonly leftOut: LeftOut;
  readonly inUse: InUse;
}
