/** Which instance a network interface is of, and whether it takes packets that are not for itself. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { NetworkInterface } from '../client/generated/ec2.ts';
import { chunks, pages } from '../client/pages.ts';

/** Values that one filter takes. */
const FILTER_VALUES = 200;

/** An interface that an instance has. */
export interface InstanceInterface {
  /** `eni-0a1b…`. */
  readonly id: string;
  readonly instanceId: string;
  readonly zone: string;
  /** The one that the instance began with, and has for all its life. */
  readonly isPrimary: boolean;
  /** It drops what is neither from nor to an address of its own. */
  readonly sourceDestCheck: boolean;
}

/** Those of these that instances have. By a filter, so that an ID that is not there fails nothing. */
export function interfacesById(
  client: AwsClient,
  ids: Iterable<string>,
  call: CallContext,
): Promise<readonly InstanceInterface[]> {
  return interfacesBy(client, 'network-interface-id', ids, call);
}

export function interfacesOf(
  client: AwsClient,
  instanceIds: Iterable<string>,
  call: CallContext,
): Promise<readonly InstanceInterface[]> {
  return interfacesBy(client, 'attachment.instance-id', instanceIds, call);
}

async function interfacesBy(
  client: AwsClient,
  filter: string,
  values: Iterable<string>,
  call: CallContext,
): Promise<readonly InstanceInterface[]> {
  const wanted = [...new Set(values)];
  const found: InstanceInterface[] = [];
  for (const Values of chunks(wanted, FILTER_VALUES)) {
    const Filters = [{ Name: filter, Values }];
    const items = await pages(client.ec2, call, 'DescribeNetworkInterfaces', { Filters, MaxResults: 1000 });
    found.push(...items.flatMap(interfaceOf));
  }
  return found;
}

function interfaceOf(item: NetworkInterface): readonly InstanceInterface[] {
  const { Attachment: attachment, AvailabilityZone: zone, NetworkInterfaceId: id, SourceDestCheck: check } = item;
  const instanceId = attachment?.InstanceId;
  if (id === undefined || !instanceId || !zone) return [];
  const isPrimary = attachment.DeviceIndex === 0 && (attachment.NetworkCardIndex ?? 0) === 0;
  return [{ id, instanceId, zone, isPrimary, sourceDestCheck: check !== false }];
}
