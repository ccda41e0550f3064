/** Instances by their IDs and by the names of nodes, in as few calls as EC2 allows. */
import { asError, CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import { awsCodeOf, namedIn } from '../client/aws-errors.ts';
import type { DescribeInstancesRequest, Filter, Instance } from '../client/generated/ec2.ts';
import { chunks, pages } from '../client/pages.ts';
import { CLUSTER_TAG_PREFIX, hasClusterTag, LEGACY_CLUSTER_TAG, tagValue } from '../cluster/cluster-tags.ts';
import type { ClusterFacts } from '../cluster/own-cluster.ts';
import { addressInName } from './asked-instance.ts';

type Ec2 = AwsClient['ec2'];

/** Of one request by IDs. EC2 takes more, and answers them slowly. */
const MOST_IDS = 500;
/** So often the same are asked for by IDs. */
const MOST_REFUSALS = 3;
/** Of one filter: EC2 takes 200 in all filters of a request. */
const MOST_VALUES = 190;
const PAGE_SIZE = 1_000;
/** For more names than this, a list of all of the cluster's instances costs less. */
const MANY_NAMES = 2 * MOST_VALUES;

/** `undefined`: it was not in what was read, which proves nothing; an error: it could not be found out. */
export type ByKey = ReadonlyMap<string, Instance | Error | undefined>;
/** `not-found`: EC2 says of this very ID that there is none, or none yet. */
export type OneById = Instance | Error | 'not-found' | undefined;
export type ById = ReadonlyMap<string, OneById>;

/** Direct reads. */
export async function instancesByIds(ec2: Ec2, ids: readonly string[], call: CallContext): Promise<ById> {
  const found = await Promise.all(
    chunks([...new Set(ids)], MOST_IDS).map(async (chunk): Promise<ById> => {
      try {
        return await readByIds(ec2, chunk, call);
      } catch (error) {
        call.signal.throwIfAborted();
        return new Map(chunk.map((id) => [id, asError(error)]));
      }
    }),
  );
  return new Map(found.flatMap((chunk) => [...chunk]));
}

/**
 * One ID that is unknown makes EC2 refuse all. The error names some of those, often all: the rest is asked for without them, and in the end by
 * the filter, which refuses nothing, and whose silence proves nothing.
 */
async function readByIds(ec2: Ec2, ids: readonly string[], call: CallContext): Promise<ById> {
  const notFound = new Set<string>();
  let rest = ids;
  let instances: readonly Instance[] | undefined;
  for (let asked = 0; asked < MOST_REFUSALS && !instances && rest.length > 0; asked++) {
    try {
      instances = await described(ec2, { InstanceIds: rest }, call);
    } catch (error) {
      const unknown = unknownIn(error);
      const left = rest.filter((id) => !unknown.has(id));
      if (left.length === rest.length) throw error;
      // Of an ID that it cannot read EC2 says nothing else. None is asked about (`askedInstance`).
      if (awsCodeOf(error) === 'InvalidInstanceID.NotFound') for (const id of unknown) notFound.add(id);
      rest = left;
    }
  }
  const byId = new Map((instances ?? (await instancesByFilter(ec2, rest, call))).map((one) => [one.InstanceId, one]));
  return new Map(ids.map((id) => [id, notFound.has(id) ? 'not-found' : byId.get(id)]));
}

/** The instances that EC2 says do not exist. */
export function unknownIn(error: unknown): ReadonlySet<string> {
  const code = awsCodeOf(error);
  const isAboutIds = code === 'InvalidInstanceID.NotFound' || code === 'InvalidInstanceID.Malformed';
  return new Set(isAboutIds ? namedIn(error, /\bi-[\da-z]+\b/gu) : []);
}

/** By another index of EC2's than that of IDs; those that are terminated too. */
export async function instancesByFilter(
  ec2: Ec2,
  ids: readonly string[],
  call: CallContext,
): Promise<readonly Instance[]> {
  const lists = chunks(ids, MOST_VALUES).map((Values) =>
    described(ec2, { Filters: [{ Name: 'instance-id', Values }] }, call),
  );
  return (await Promise.all(lists)).flat();
}

/**
 * By private DNS name, then by the address in `ip-a-b-c-d`, then by the tag `Name`: instances of the cluster, which are not terminated. Several for
 * one name are an error.
 */
export async function instancesByNames(
  ec2: Ec2,
  names: readonly string[],
  cluster: ClusterFacts,
  call: CallContext,
): Promise<ByKey> {
  if (names.length > MANY_NAMES) return matched(names, await instancesOfCluster(ec2, cluster, call));
  const found = new Map<string, Instance | Error | undefined>();
  for (const way of WAYS) {
    const asked = names.filter((name) => found.get(name) === undefined && way.valueOf(name) !== undefined);
    const values = asked.flatMap((name) => way.valueOf(name) ?? []);
    const lists = await Promise.all(
      chunks([...new Set(values)], MOST_VALUES).map((Values) =>
        described(ec2, { Filters: [{ Name: way.filter, Values }, ...inVpc(cluster)], MaxResults: PAGE_SIZE }, call),
      ),
    );
    const instances = lists.flat().filter(({ Tags }) => hasClusterTag(Tags, cluster.tags));
    for (const [name, one] of matchedBy(way, asked, instances)) found.set(name, one);
  }
  return found;
}

interface Way {
  readonly filter: string;
  /** What an instance of a node of this name has. */
  readonly valueOf: (nodeName: string) => string | undefined;
  readonly of: (instance: Instance) => readonly (string | undefined)[];
}

const WAYS: readonly Way[] = [
  { filter: 'private-dns-name', valueOf: (name) => name, of: ({ PrivateDnsName }) => [PrivateDnsName] },
  { filter: 'private-ip-address', valueOf: addressInName, of: ({ PrivateIpAddress }) => [PrivateIpAddress] },
  { filter: 'tag:Name', valueOf: (name) => name, of: ({ Tags }) => [tagValue(Tags, 'Name')] },
];

/** Addresses and names are the VPC's own. */
function inVpc({ vpcId }: ClusterFacts): readonly Filter[] {
  return [{ Name: 'vpc-id', Values: [vpcId] }, ALIVE];
}

const ALIVE: Filter = {
  Name: 'instance-state-name',
  Values: ['pending', 'running', 'shutting-down', 'stopping', 'stopped'],
};

async function instancesOfCluster(ec2: Ec2, cluster: ClusterFacts, call: CallContext): Promise<readonly Instance[]> {
  const { id, isLegacy } = cluster.tags;
  const tags: readonly Filter[] = [
    { Name: 'tag-key', Values: [CLUSTER_TAG_PREFIX + id] },
    ...(isLegacy ? [{ Name: `tag:${LEGACY_CLUSTER_TAG}`, Values: [id] }] : []),
  ];
  const lists = await Promise.all(
    tags.map((tag) => described(ec2, { Filters: [tag, ...inVpc(cluster)], MaxResults: PAGE_SIZE }, call)),
  );
  return [...new Map(lists.flat().map((one) => [one.InstanceId, one])).values()];
}

function matched(names: readonly string[], instances: readonly Instance[]): ByKey {
  const found = new Map<string, Instance | Error | undefined>();
  for (const way of WAYS) {
    const left = names.filter((name) => found.get(name) === undefined);
    for (const [name, one] of matchedBy(way, left, instances)) found.set(name, one);
  }
  return found;
}

function matchedBy({ filter, of, valueOf }: Way, names: readonly string[], instances: readonly Instance[]): ByKey {
  const byValue = Map.groupBy(
    instances.flatMap((instance) => of(instance).map((value) => ({ instance, value }))),
    ({ value }) => value,
  );
  return new Map(
    names.map((name): readonly [string, Instance | Error | undefined] => {
      const all = byValue.get(valueOf(name)) ?? [];
      if (all.length < 2) return [name, all[0]?.instance];
      const ids = all.map(({ instance }) => instance.InstanceId ?? '').toSorted();
      const message = `${all.length} instances of the cluster have the ${filter.replace('tag:', 'tag ')} of node ${name}: ${ids.slice(0, 5).join(', ')}; start its kubelet with --provider-id`;
      return [name, new CloudError('conflict', message)];
    }),
  );
}

async function described(ec2: Ec2, input: DescribeInstancesRequest, call: CallContext): Promise<readonly Instance[]> {
  const reservations = await pages(ec2, call, 'DescribeInstances', input);
  return reservations.flatMap(({ Instances = [] }) => Instances);
}
