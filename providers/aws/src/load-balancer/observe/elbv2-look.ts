/** One look at ELBv2 for all kinds of parts: lists of all, and what is asked thing by thing only of what may be the Services'. */
import {
  isCloudError,
  type CallContext,
  type Clock,
  type LoadBalancerService,
  type Owner,
} from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { Listener, LoadBalancer, TargetGroup } from '../../client/generated/elbv2.ts';
import { pages } from '../../client/pages.ts';
import {
  isLoadBalancerName,
  isTargetGroupName,
  loadBalancerName,
  predecessorPrefix,
  targetGroupPrefix,
} from '../names.ts';
import { isOfOthers, ownerIn, type Tags } from '../ownership.ts';
import { RecentChanges, type Tagged } from './recent-changes.ts';
import { readTags } from './read-tags.ts';

export interface Elbv2Things {
  readonly loadBalancers: readonly Tagged<LoadBalancer>[];
  readonly targetGroups: readonly Tagged<TargetGroup>[];
  /** Of load balancers that the Services, or the cluster, own; and of those that the Services may take over. */
  readonly listeners: readonly Listener[];
}

export interface Elbv2LookOptions {
  readonly client: Pick<AwsClient, 'elbv2'>;
  readonly clock: Clock;
  readonly clusterId: string;
}

const PAGE = 400;

export class Elbv2Look {
  readonly loadBalancers: RecentChanges<LoadBalancer>;
  readonly targetGroups: RecentChanges<TargetGroup>;
  readonly listeners: RecentChanges<Listener>;
  readonly #options: Elbv2LookOptions;
  readonly #looks = new WeakMap<CallContext, Promise<Elbv2Things>>();
  /** By the last look. */
  #listed: readonly LoadBalancer[] = [];

  constructor(options: Elbv2LookOptions) {
    const { clock } = options;
    this.#options = options;
    this.loadBalancers = new RecentChanges(clock);
    this.targetGroups = new RecentChanges(clock);
    this.listeners = new RecentChanges(clock);
  }

  /** The same for all who ask with this very call: one for each look. */
  things(call: CallContext, services?: readonly LoadBalancerService[]): Promise<Elbv2Things> {
    const known = this.#looks.get(call);
    if (known) return known;
    const look = this.#read(call, services);
    this.#looks.set(call, look);
    return look;
  }

  /** Whether a thing with these tags is one of these Services', or, without any, of the cluster's. */
  isOwn(tags: Tags, services?: readonly Pick<LoadBalancerService, 'uid'>[]): boolean {
    const owner: Owner | undefined = ownerIn(tags);
    if (owner?.clusterId !== this.#options.clusterId) return false;
    return !services || services.some(({ uid }) => uid === owner.uid);
  }

  /** As of the last look, which may not show it yet. */
  isProvisioning(arn: string): boolean {
    return !this.#listed.some((one) => arnOf(one) === arn && one.State?.Code !== 'provisioning');
  }

  /** Whether a load balancer has this security group, as of the last look and what was done since. */
  usesGroup(id: string): boolean {
    return this.#has(({ SecurityGroups }) => SecurityGroups?.includes(id) === true);
  }

  /** Whether there is a load balancer of this name, as `usesGroup` has it. */
  hasNamed(name: string): boolean {
    return this.#has(({ LoadBalancerName }) => LoadBalancerName === name);
  }

  #has(isIt: (one: LoadBalancer) => boolean): boolean {
    const made = this.loadBalancers.missing(new Set(this.#listed.map(arnOf))).map(([, { thing }]) => thing);
    return [...this.#listed, ...made].some((one) => isIt(one) && !this.loadBalancers.wasDeleted(arnOf(one)));
  }

  /** As of the last look. */
  hasNoGroups(arn: string): boolean {
    return this.#listed.some((one) => arnOf(one) === arn && !one.SecurityGroups?.length);
  }

  async #read(call: CallContext, services?: readonly LoadBalancerService[]): Promise<Elbv2Things> {
    const { client } = this.#options;
    const [balancers, groups] = await Promise.all([
      pages(client.elbv2, call, 'DescribeLoadBalancers', { PageSize: PAGE }),
      pages(client.elbv2, call, 'DescribeTargetGroups', { PageSize: PAGE }),
    ]);
    this.#listed = balancers;
    const mayBe = candidatesOf(services);
    const namedBalancers = new Map(
      balancers.filter((one) => one.Type === 'network' && mayBe.loadBalancer(one)).map((one) => [arnOf(one), one]),
    );
    const arns = new Set(namedBalancers.keys());
    const namedGroups = new Map(
      groups.filter((one) => mayBe.targetGroup(one, arns)).map((one) => [groupArnOf(one), one]),
    );
    const tags = await readTags(client, [...arns, ...namedGroups.keys()], call);
    const seenBalancers = this.#lay(namedBalancers, tags, this.loadBalancers, (one) => mayBe.loadBalancer(one));
    const seenGroups = this.#lay(namedGroups, tags, this.targetGroups, (one) => mayBe.targetGroup(one, arns));
    const isOwn = (tags: Tags): boolean => this.isOwn(tags, services) || (services !== undefined && !ownerIn(tags));
    const own = seenBalancers
      .filter(({ isDeleted, tags: its }) => isOwn(its) && !isDeleted)
      .map(({ thing }) => arnOf(thing));
    const listeners = await Promise.all(own.map((arn) => this.#listenersOf(arn, arns.has(arn), call)));
    return { loadBalancers: seenBalancers, targetGroups: seenGroups, listeners: listeners.flat() };
  }

  /** What was listed and has tags, with what was made and is not listed yet. What is the AWS Load Balancer Controller's is left out. */
  #lay<Thing>(
    listed: ReadonlyMap<string, Thing>,
    tags: ReadonlyMap<string, Tags>,
    recent: RecentChanges<Thing>,
    isNamed: (thing: Thing) => boolean,
  ): readonly Tagged<Thing>[] {
    const seen = [...listed].flatMap(([arn, thing]): readonly Tagged<Thing>[] => {
      const found = tags.get(arn);
      if (!found) return [];
      const all = recent.tagsOf(arn, found);
      return isOfOthers(all) ? [] : [{ thing, tags: all, isDeleted: recent.wasDeleted(arn) }];
    });
    const young = recent
      .missing(new Set([...listed.keys()].filter((arn) => tags.has(arn))))
      .filter(([, { thing }]) => isNamed(thing))
      .map(([arn, made]) => ({ ...made, tags: recent.tagsOf(arn, made.tags) }));
    return [...seen, ...young];
  }

  /** Of one that is not listed yet AWS knows no listeners either. */
  async #listenersOf(arn: string, isListed: boolean, call: CallContext): Promise<readonly Listener[]> {
    const listed = isListed ? await this.#listListeners(arn, call) : [];
    const ids = new Set(listed.map(({ ListenerArn = '' }) => ListenerArn));
    const young = this.listeners
      .missing(ids)
      .map(([, { thing }]) => thing)
      .filter(({ LoadBalancerArn }) => LoadBalancerArn === arn);
    return [...listed.filter(({ ListenerArn = '' }) => !this.listeners.wasDeleted(ListenerArn)), ...young];
  }

  /** A load balancer that was just made may not be known yet; one that has just gone has none. */
  async #listListeners(LoadBalancerArn: string, call: CallContext): Promise<readonly Listener[]> {
    try {
      return await pages(this.#options.client.elbv2, call, 'DescribeListeners', { LoadBalancerArn, PageSize: PAGE });
    } catch (error) {
      if (isCloudError(error, 'not-found')) return [];
      throw error;
    }
  }
}

interface Candidates {
  readonly loadBalancer: (one: LoadBalancer) => boolean;
  readonly targetGroup: (one: TargetGroup, loadBalancers: ReadonlySet<string>) => boolean;
}

/** By names, and by what it is attached to: tags cost a request for each twenty. */
function candidatesOf(services: readonly LoadBalancerService[] | undefined): Candidates {
  const adopted = new Set(services?.flatMap(({ adopt = [] }) => adopt.map(({ id }) => id)));
  const names = services && new Set(services.map(({ uid }) => loadBalancerName(uid)));
  const own = services?.map(({ uid }) => targetGroupPrefix(uid));
  const old = services?.flatMap((one) => (one.name === '' ? [] : [predecessorPrefix(one)]));
  return {
    loadBalancer: (one) => {
      const { LoadBalancerName: name = '' } = one;
      return (names?.has(name) ?? isLoadBalancerName(name)) || adopted.has(arnOf(one));
    },
    targetGroup: (one, loadBalancers) => {
      const { LoadBalancerArns = [], TargetGroupName: name = '' } = one;
      if (adopted.has(groupArnOf(one)) || LoadBalancerArns.some((arn) => loadBalancers.has(arn))) return true;
      if (!own || !old) return isTargetGroupName(name);
      // Of cloud-provider-aws in another cluster of the same name it may be called so too: then another load balancer uses it.
      return [...own, ...(LoadBalancerArns.length === 0 ? old : [])].some((prefix) => name.startsWith(prefix));
    },
  };
}

export const arnOf = ({ LoadBalancerArn = '' }: LoadBalancer): string => LoadBalancerArn;
export const groupArnOf = ({ TargetGroupArn = '' }: TargetGroup): string => TargetGroupArn;
