/** Route tables: what is in them, and what AWS refuses to add. */
import type { Operations } from '../../src/client/generated/ec2.ts';
import type { AwsAccount } from '../aws-account.ts';
import { refused } from '../aws-error.ts';
import type { NetworkInterface, Route, RouteTable } from '../things.ts';
import { described, page, tagList, type FilterTable } from './describe.ts';
import { canonicalRange } from './ip-range.ts';
import { seenInterfaces } from './interface-view.ts';

type Input<Name extends keyof Operations> = Operations[Name]['input'];

/** https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html: of each family, local ones not counted. */
const MOST_ROUTES = 500;

const filters: FilterTable<RouteTable> = {
  'association.main': ({ isMain }) => [String(isMain)],
  'association.subnet-id': ({ subnetIds }) => subnetIds,
  'route-table-id': ({ id }) => [id],
  'vpc-id': ({ vpcId }) => [vpcId],
  'route.destination-cidr-block': ({ routes }) => routes.filter(isIpv4).map(({ destination }) => destination),
  'route.destination-ipv6-cidr-block': ({ routes }) =>
    routes.filter((one) => !isIpv4(one)).map(({ destination }) => destination),
};

export const routeTableOperations = {
  DescribeRouteTables: (input: Input<'DescribeRouteTables'>, account: AwsAccount): object => {
    const kind = {
      store: account.routeTables,
      filters,
      errors: 'InvalidRouteTableID',
      prefix: 'rtb',
      noun: 'routeTable ID',
    };
    const { items, next } = page(described(kind, input.RouteTableIds, input), input);
    return { RouteTables: items.map((table) => view(account, table)), ...next };
  },

  CreateRoute: (input: Input<'CreateRoute'>, account: AwsAccount): object => {
    const table = existing(account, input.RouteTableId);
    const destination = destinationOf(input);
    if (table.routes.some((one) => one.destination === destination)) {
      throw refused('RouteAlreadyExists', `The route identified by ${destination} already exists.`);
    }
    const family = table.routes.filter(
      (one) => isIpv4(one) === !destination.includes(':') && one.gatewayId !== 'local',
    );
    if (family.length >= MOST_ROUTES)
      throw refused('RouteLimitExceeded', `The maximum number of routes of ${table.id} is reached`);
    account.routeTables.put({
      ...table,
      routes: [...table.routes, { destination, origin: 'CreateRoute', ...targetOf(account, input) }],
    });
    return { Return: true };
  },

  ReplaceRoute: (input: Input<'ReplaceRoute'>, account: AwsAccount): object => {
    const table = existing(account, input.RouteTableId);
    const destination = destinationOf(input);
    const route = routeTo(table, destination);
    const next = { destination, origin: route.origin, ...targetOf(account, input) };
    account.routeTables.put({ ...table, routes: table.routes.map((one) => (one === route ? next : one)) });
    return {};
  },

  DeleteRoute: (input: Input<'DeleteRoute'>, account: AwsAccount): object => {
    const table = existing(account, input.RouteTableId);
    const route = routeTo(table, destinationOf(input));
    if (route.gatewayId === 'local')
      throw refused('InvalidParameterValue', `cannot remove local route ${route.destination}`);
    account.routeTables.put({ ...table, routes: table.routes.filter((one) => one !== route) });
    return {};
  },
};

function existing(account: AwsAccount, id: string): RouteTable {
  const table = account.routeTables.get(id);
  if (table) return table;
  throw refused('InvalidRouteTableID.NotFound', `The routeTable ID '${id}' does not exist`);
}

function routeTo(table: RouteTable, destination: string): Route {
  const route = table.routes.find((one) => one.destination === destination);
  if (route) return route;
  throw refused(
    'InvalidRoute.NotFound',
    `no route with destination-cidr-block ${destination} in route table ${table.id}`,
  );
}

function isIpv4({ destination }: Route): boolean {
  return !destination.includes(':');
}

function destinationOf(input: {
  readonly DestinationCidrBlock?: string;
  readonly DestinationIpv6CidrBlock?: string;
}): string {
  const { DestinationCidrBlock: ipv4, DestinationIpv6CidrBlock: ipv6 } = input;
  const destination = ipv4 ?? ipv6;
  if (destination === undefined)
    throw refused(
      'MissingParameter',
      'The request must contain exactly one of destinationCidrBlock, destinationIpv6CidrBlock',
    );
  const range = canonicalRange(destination, ipv4 === undefined ? 'ipv6' : 'ipv4');
  if (range === undefined)
    throw refused('InvalidParameterValue', `Value (${destination}) for parameter destination is invalid`);
  return range;
}

function targetOf(
  account: AwsAccount,
  input: Input<'CreateRoute'> | Input<'ReplaceRoute'>,
): Pick<Route, 'gatewayId' | 'networkInterfaceId'> {
  const { GatewayId: gateway, InstanceId: instance, NetworkInterfaceId: networkInterface } = input;
  if (gateway !== undefined) return { gatewayId: gateway };
  if (networkInterface !== undefined) {
    if (account.interfaces.get(networkInterface)) return { networkInterfaceId: networkInterface };
    throw refused('InvalidNetworkInterfaceID.NotFound', `The networkInterface ID '${networkInterface}' does not exist`);
  }
  if (instance === undefined) throw refused('MissingParameter', 'The request must contain a target');
  if (!account.instances.get(instance))
    throw refused('InvalidInstanceID.NotFound', `The instance ID '${instance}' does not exist`);
  const interfaces = seenInterfaces(account, instance);
  const [only] = interfaces;
  if (interfaces.length > 1 || !only) {
    throw refused(
      'InvalidInstanceID',
      `There are multiple interfaces attached to instance '${instance}'. Please specify an interface ID for the operation instead.`,
    );
  }
  return { networkInterfaceId: only.id };
}

function view(account: AwsAccount, { id, isMain, routes, subnetIds, tags, vpcId }: RouteTable): object {
  const association = (key: string): object => ({
    RouteTableAssociationId: `rtbassoc-${key}`,
    RouteTableId: id,
    AssociationState: { State: 'associated' },
  });
  return {
    RouteTableId: id,
    VpcId: vpcId,
    OwnerId: account.accountId,
    Associations: [
      ...(isMain ? [{ ...association(id.slice('rtb-'.length)), Main: true }] : []),
      ...subnetIds.map((subnet) => ({ ...association(subnet.slice('subnet-'.length)), Main: false, SubnetId: subnet })),
    ],
    PropagatingVgws: [],
    Routes: routes.map((route) => routeView(account, route)),
    Tags: tagList(tags),
  };
}

function routeView(account: AwsAccount, route: Route): object {
  const { destination, gatewayId, networkInterfaceId, origin } = route;
  const target = networkInterfaceId === undefined ? undefined : account.interfaces.get(networkInterfaceId);
  return {
    ...(isIpv4(route) ? { DestinationCidrBlock: destination } : { DestinationIpv6CidrBlock: destination }),
    Origin: origin,
    State: networkInterfaceId === undefined || carries(account, target) ? 'active' : 'blackhole',
    ...(gatewayId !== undefined && { GatewayId: gatewayId }),
    ...(networkInterfaceId !== undefined && { NetworkInterfaceId: networkInterfaceId }),
    ...(target?.attachment?.instanceId !== undefined && {
      InstanceId: target.attachment.instanceId,
      InstanceOwnerId: account.accountId,
    }),
  };
}

/** A route to what does not run is a blackhole (https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_Route.html). */
function carries(account: AwsAccount, target: NetworkInterface | undefined): boolean {
  const instanceId = target?.attachment?.instanceId;
  return instanceId !== undefined && account.instances.get(instanceId)?.state === 'running';
}
