/** Where a load balancer's virtual IPs lie: what the goal leaves open is looked up in Neutron, right before it is made. */
import { CloudError, isCloudError, type CallContext } from '@outrigger/cloud-provider';
import type { ApiClient } from '../../client/api-client.ts';
import type { BackEndAddress, DesiredOctaviaLoadBalancer } from '../desired/desired-tree.ts';
import type { WirePort, WireSubnet } from '../neutron-wire.ts';
import { portOf, portsByAddress } from './ports-by-address.ts';

export interface Placement {
  /** `vip_subnet_id` and the like, `additional_vips`. */
  readonly body: Readonly<Record<string, unknown>>;
  /** Of members that name none: the VIP's, where it is known. */
  readonly subnetId: string | undefined;
}

export async function findPlacement(
  client: ApiClient,
  { additionalVips, vip }: DesiredOctaviaLoadBalancer,
  call: CallContext,
): Promise<Placement> {
  const { address, family, networkId, portId, subnetOf } = vip;
  let { subnetId } = vip;
  if (!portId && !subnetId && !networkId && subnetOf) subnetId = await subnetOfBackEnd(client, subnetOf, call);
  // Of a network alone Octavia takes an IPv4 subnet where there is one.
  if (!portId && !subnetId && networkId && family === 'IPv6') {
    subnetId = await subnetOfFamily(client, networkId, family, call);
  }
  const where = portId
    ? { vip_port_id: portId }
    : subnetId
      ? { vip_subnet_id: subnetId }
      : { vip_network_id: networkId };
  const more: { readonly subnet_id: string }[] = [];
  for (const { family: second } of additionalVips) {
    const network = networkId ?? (await networkOf(client, { portId, subnetId }, call));
    try {
      more.push({ subnet_id: await subnetOfFamily(client, network, second, call) });
    } catch (error) {
      // The plan warns of it from then on.
      if (!isCloudError(error, 'invalid')) throw error;
    }
  }
  return {
    body: {
      ...where,
      // Of a port with several addresses it says which.
      ...(address !== undefined && { vip_address: address }),
      ...(more.length > 0 && { additional_vips: more }),
    },
    subnetId,
  };
}

async function subnetOfBackEnd(client: ApiClient, backEnd: BackEndAddress, call: CallContext): Promise<string> {
  const { address, nodeName } = backEnd;
  const port = portOf(await portsByAddress(client, [address], call), backEnd);
  const fixed = port?.fixed_ips.find((one) => one.ip_address === address);
  if (fixed) return fixed.subnet_id;
  const text = `no port of the node ${nodeName} is known by its address ${address}, so that no subnet is known for the load balancer; set subnet-id or network-id`;
  throw new CloudError('invalid', text);
}

async function networkOf(
  client: ApiClient,
  { portId, subnetId }: { readonly portId?: string | undefined; readonly subnetId?: string | undefined },
  call: CallContext,
): Promise<string> {
  const service = 'network';
  const method = 'GET';
  if (portId) {
    const { port } = await client.request<{ port: WirePort & { readonly network_id: string } }>(call, {
      service,
      operation: 'GET /v2.0/ports/{id}',
      method,
      path: `/v2.0/ports/${encodeURIComponent(portId)}`,
    });
    return port.network_id;
  }
  const { subnet } = await client.request<{ subnet: WireSubnet }>(call, {
    service,
    operation: 'GET /v2.0/subnets/{id}',
    method,
    path: `/v2.0/subnets/${encodeURIComponent(subnetId ?? '')}`,
  });
  return subnet.network_id;
}

async function subnetOfFamily(
  client: ApiClient,
  networkId: string,
  family: 'IPv4' | 'IPv6',
  call: CallContext,
): Promise<string> {
  const subnets = await client.list<WireSubnet>(call, {
    service: 'network',
    operation: 'GET /v2.0/subnets',
    path: '/v2.0/subnets',
    query: [
      ['network_id', networkId],
      ['ip_version', family === 'IPv6' ? '6' : '4'],
    ],
    collection: 'subnets',
  });
  const [subnet, another] = subnets;
  if (subnet && !another) return subnet.id;
  const text = `the network ${networkId} has ${subnets.length} ${family} subnets, and the second address of the load balancer needs exactly one; set network-id to another, or ask for one family`;
  throw new CloudError('invalid', text);
}
