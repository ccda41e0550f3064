/** For tests: that requests change nothing but the Service's own, and use nothing of others that the plan does not say in `touches`. The host judges nothing but what is said. */
import { strict as assert } from 'node:assert';
import {
  sameOwner,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerPart,
  type PartName,
} from '@outrigger/cloud-provider';
import { assertTouchesDeclared } from '../../../../packages/conformance/src/provider/declared-touches.ts';
import type { AwsAccount } from '../../fake/aws-account.ts';
import type { FakeAws, FakeAwsCall } from '../../fake/fake-aws.ts';
import type { SecurityGroupRule } from '../../fake/things.ts';
import type { LaggedStore } from '../../fake/lagged-store.ts';
import { CLUSTER_TAG_PREFIX, hasAnyClusterTag } from '../cluster/cluster-tags.ts';
import { instanceIdIn } from '../instances/asked-instance.ts';
import { annotationRows } from './annotations/annotation-rows.ts';
import { GRANT_TAG, grantedIn } from './grants.ts';
import { CLUSTER_TAG, ownerIn, tagList, type Tags } from './ownership.ts';
import { SHARED_TAG } from './security-groups/group-look.ts';

export interface World {
  readonly aws: FakeAws;
  /** Of `kubernetes.io/cluster/<id>`. */
  readonly clusterName: string;
  readonly vpcId: string;
  /** What the cloud config names: it needs no leave. */
  readonly config?: readonly string[];
}

/** What they have an effect on, not what they bring along. */
const CHANGED: readonly string[] = [
  'GroupId',
  'LoadBalancerArn',
  'LoadBalancerName',
  'LoadBalancerNames',
  'ListenerArn',
  'ResourceArns',
  'Resources',
  'SecurityGroupRuleIds',
  'TargetGroupArn',
];
/** Texts that whoever writes the Service chooses: they name nothing. */
const TEXTS: readonly string[] = ['Attributes', 'LoadBalancerAttributes', 'Tags', 'TagSpecifications'];

/** What there is right before an action, and what of it the Service need not ask for. */
export class Ground {
  readonly #desired: DesiredLoadBalancer;
  /** By ID. What comes later the action has made. */
  readonly #kinds: ReadonlyMap<string, string>;
  readonly #own: ReadonlySet<string>;
  readonly #shared: ReadonlySet<string>;
  /** What it may bring along without asking. */
  readonly #free: ReadonlySet<string>;
  /** What its namespace may ask for, by the tags in the account. */
  readonly #granted: ReadonlySet<string>;
  /** Groups of nodes, and this program's rules in them. */
  readonly #opened: ReadonlySet<string>;
  readonly #account: AwsAccount;
  /** Rules that neither this program nor cloud-provider-aws has made. */
  readonly #rulesOfOthers: readonly string[];

  constructor(world: World, desired: DesiredLoadBalancer) {
    const { account } = world.aws;
    const { clusterId } = desired.owner;
    this.#desired = desired;
    this.#account = account;
    this.#kinds = kindsIn(account);
    this.#own = new Set(ownThings(account, desired));
    this.#shared = new Set(idsOf(account.groups, ({ tags }) => tags[SHARED_TAG] === clusterId));
    this.#free = new Set([
      ...this.#own,
      ...this.#shared,
      ...attachedThings(account, this.#own),
      ...desired.backEnds.flatMap(({ node }) => instanceIdIn(node.providerID, 'aws') ?? []),
      ...discovered(world, desired),
      ...(world.config ?? []),
      world.vpcId,
    ]);
    this.#granted = new Set(grantedThings(world, desired));
    this.#opened = new Set(openedThings(world, desired));
    this.#rulesOfOthers = this.#othersRules();
  }

  /** `calls`: all that the action has sent. */
  assertTouchesDeclared(
    action: LoadBalancerAction,
    parts: readonly LoadBalancerPart[],
    calls: readonly FakeAwsCall[],
  ): void {
    const used: PartName[] = [];
    for (const { body, operation } of calls) {
      if (operation.includes(':Describe')) continue;
      const said = `${action.kind} ${action.part}: ${operation}`;
      for (const [name, value] of Object.entries(body ?? {})) {
        for (const { id, kind } of this.#thingsIn(name, value)) {
          if (CHANGED.includes(name)) {
            const isClaimed = action.kind === 'claim' && action.id === id;
            assert.ok(isClaimed || this.#mayChange(operation, id), `${said} changes the ${kind} ${id} of others`);
          } else if (!this.#free.has(id)) {
            assert.ok(this.#granted.has(id), `${said} uses the ${kind} ${id} of others`);
            used.push({ kind, id });
          }
        }
      }
    }
    assertTouchesDeclared(action, used, this.#desired, parts);
    assert.deepEqual(this.#othersRules(), this.#rulesOfOthers, `${action.kind} ${action.part} changes rules of others`);
  }

  /** In groups that there were right before the action, and that are not the Service's or the shared one. */
  #othersRules(): readonly string[] {
    const isOurs = (groupId: string | undefined = ''): boolean => this.#own.has(groupId) || this.#shared.has(groupId);
    const isOthers = ({ description, groupId, referencedGroupId, tags }: SecurityGroupRule): boolean =>
      this.#kinds.has(groupId) &&
      tags[CLUSTER_TAG] !== this.#desired.owner.clusterId &&
      !description?.startsWith('kubernetes.io/rule/nlb/') &&
      !isOurs(groupId) &&
      !isOurs(referencedGroupId);
    const rules = this.#account.rules.all().filter(isOthers);
    return rules.map((rule) => JSON.stringify(rule)).toSorted();
  }

  #mayChange(operation: string, id: string): boolean {
    if (this.#own.has(id)) return true;
    if (operation === 'ec2:DeleteSecurityGroup') return this.#shared.has(id);
    return /^ec2:(?:Authorize|Revoke)SecurityGroupIngress$/u.test(operation) && this.#opened.has(id);
  }

  #thingsIn(name: string, value: unknown): readonly PartName[] {
    return textsIn({ [name]: value }).flatMap((id) => {
      const kind = this.#kinds.get(id);
      return kind === undefined ? [] : [{ kind, id }];
    });
  }
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => (TEXTS.includes(name) ? [] : textsIn(one)));
}

function kindsIn(account: AwsAccount): ReadonlyMap<string, string> {
  const all = {
    vpc: account.vpcs,
    subnet: account.subnets,
    'security-group': account.groups,
    'security-group-rule': account.rules,
    'elastic-ip': account.addresses,
    'network-interface': account.interfaces,
    instance: account.instances,
    'load-balancer': account.balancers,
    listener: account.listeners,
    'target-group': account.targetGroups,
    'classic-load-balancer': account.classics,
  };
  return new Map(Object.entries(all).flatMap(([kind, store]) => store.all().map(({ id }) => [id, kind] as const)));
}

function ownThings(
  { balancers, classics, groups, listeners, targetGroups }: AwsAccount,
  { owner }: DesiredLoadBalancer,
): readonly string[] {
  const isOwn = ({ tags }: { readonly tags: Tags }): boolean => sameOwner(ownerIn(tags), owner);
  const own = [...balancers.all(), ...classics.all(), ...groups.all(), ...targetGroups.all()].filter(isOwn);
  const ids = own.map(({ id }) => id);
  return [...ids, ...listeners.all().flatMap(({ balancerId, id }) => (ids.includes(balancerId) ? [id] : []))];
}

/** What its load balancers have already, or still have as AWS shows them. */
function attachedThings(
  { balancers, classics, targetGroups, targets }: AwsAccount,
  own: ReadonlySet<string>,
): readonly string[] {
  const ownIn = <Thing extends { readonly id: string }>(store: Store<Thing>): readonly Thing[] =>
    [...store.all(), ...store.list()].filter(({ id }) => own.has(id));
  return [
    ...ownIn(balancers).flatMap(({ groupIds, subnets }) => [
      ...groupIds,
      ...subnets.flatMap(({ allocationId, subnetId }) => [subnetId, allocationId ?? '']),
    ]),
    ...ownIn(classics).flatMap(({ groupIds, instanceIds, subnets }) => [
      ...groupIds,
      ...instanceIds,
      ...subnets.map(({ id }) => id),
    ]),
    ...ownIn(targetGroups).flatMap(({ id }) => targets.of(id).map((one) => one.id)),
  ];
}

/** Of the VPC, where the Service names none: the cluster's, and those that are nobody's and set aside for nobody else. */
function discovered({ aws, clusterName, vpcId }: World, { service }: DesiredLoadBalancer): readonly string[] {
  if (service.annotations[annotationRows.subnets.name]) return [];
  return idsOf(aws.account.subnets, ({ tags, vpcId: vpc }) => {
    const isNobodys = !hasAnyClusterTag(tagList(tags)) && (isFor(tags, service) || !(GRANT_TAG in tags));
    return vpc === vpcId && (isOfCluster(tags, clusterName) || isNobodys);
  });
}

function grantedThings({ aws, clusterName }: World, { service }: DesiredLoadBalancer): readonly string[] {
  const { addresses, groups, subnets } = aws.account;
  return [
    ...idsOf(subnets, ({ tags }) => isOfCluster(tags, clusterName) || isFor(tags, service)),
    ...idsOf(groups, ({ tags }) => isFor(tags, service)),
    ...idsOf(addresses, ({ tags }) => isFor(tags, service)),
  ];
}

function openedThings({ aws, clusterName, vpcId }: World, { owner }: DesiredLoadBalancer): readonly string[] {
  const { groups, instances, interfaces, rules } = aws.account;
  const groupsOf = (instance: string): ReadonlySet<string> =>
    new Set(interfaces.all().flatMap((one) => (one.attachment?.instanceId === instance ? one.groupIds : [])));
  const ofNodes = idsOf(instances, ({ tags }) => isOfCluster(tags, clusterName)).flatMap((id) => {
    const all = groupsOf(id);
    return all.size === 1 ? [...all] : [];
  });
  const isOfNodes = ({ id, tags }: { readonly id: string; readonly tags: Tags }): boolean =>
    isOfCluster(tags, clusterName) || ofNodes.includes(id);
  return [
    ...idsOf(groups, (one) => one.vpcId === vpcId && one.tags[CLUSTER_TAG] === undefined && isOfNodes(one)),
    ...idsOf(rules, ({ tags }) => tags[CLUSTER_TAG] === owner.clusterId),
  ];
}

type Store<Thing extends { readonly id: string }> = Pick<LaggedStore<Thing>, 'all' | 'list'>;

const idsOf = <Thing extends { readonly id: string }>(
  store: Store<Thing>,
  isMeant: (thing: Thing) => boolean,
): readonly string[] => store.all().flatMap((one) => (isMeant(one) ? [one.id] : []));

const isOfCluster = (tags: Tags, name: string): boolean => `${CLUSTER_TAG_PREFIX}${name}` in tags;

const isFor = (tags: Tags, { namespace }: DesiredLoadBalancer['service']): boolean =>
  ['*', namespace].some((one) => grantedIn(tagList(tags)).includes(one));
