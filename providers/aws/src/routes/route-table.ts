/** The route table that the ranges of pods are in. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { RouteTable } from '../client/generated/ec2.ts';
import { pages } from '../client/pages.ts';
import { CLUSTER_TAG_PREFIX, hasClusterTag, LEGACY_CLUSTER_TAG, type ClusterTags } from '../cluster/cluster-tags.ts';

export interface RouteTableOptions {
  readonly client: AwsClient;
  /** Found late; rejects with a `CloudError` while it is not known. */
  readonly cluster: { learn(call: CallContext): Promise<{ readonly tags: ClusterTags }> };
  /** As of now; no table: the only one with the tag of the cluster. */
  readonly config: () => { readonly routeTableId: string | undefined };
}

/** A table that AWS answered with its ID. */
export type FoundRouteTable = RouteTable & { readonly RouteTableId: string };

/** With all its routes, by one request. Rejects with code `configuration` where there is none, or not one alone. */
export async function readRouteTable(
  { client, cluster, config }: RouteTableOptions,
  call: CallContext,
): Promise<FoundRouteTable> {
  const { routeTableId } = config();
  if (routeTableId !== undefined) {
    const tables = await pages(client.ec2, call, 'DescribeRouteTables', { RouteTableIds: [routeTableId] });
    return only(tables, `the route table ${routeTableId} (RouteTableID)`);
  }
  const { tags } = await cluster.learn(call);
  const tag = CLUSTER_TAG_PREFIX + tags.id;
  const Filters = [{ Name: 'tag-key', Values: [tag, LEGACY_CLUSTER_TAG] }];
  const tables = await pages(client.ec2, call, 'DescribeRouteTables', { Filters, MaxResults: 100 });
  const own = tables.filter((table) => hasClusterTag(table.Tags, tags));
  return only(own, `a route table with the tag ${tag}`);
}

function only(tables: readonly RouteTable[], what: string): FoundRouteTable {
  const found = tables.filter((table): table is FoundRouteTable => table.RouteTableId !== undefined);
  const [first, ...others] = found;
  if (first && others.length === 0) return first;
  const names = found.map(({ RouteTableId }) => RouteTableId).toSorted();
  const why = first
    ? `${names.join(' and ')} are each ${what}: name the one for the ranges of pods as RouteTableID in the cloud config`
    : `there is not ${what}: tag the one that the subnets of the nodes use, or name it as RouteTableID in the cloud config`;
  throw new CloudError('configuration', why);
}
