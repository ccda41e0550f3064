/** Nodes of Fargate: no instances, but network interfaces of the VPC with the address in their provider IDs. */
import { asError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { NetworkInterface } from '../client/generated/ec2.ts';
import { pages } from '../client/pages.ts';

/** Of one filter: EC2 takes 200 in all filters of a request. */
const MOST_VALUES = 190;

/** By address. `undefined`: none is attached; an error: it could not be found out. */
export async function fargateInterfaces(
  ec2: AwsClient['ec2'],
  addresses: readonly string[],
  vpcId: string,
  call: CallContext,
): Promise<ReadonlyMap<string, NetworkInterface | Error | undefined>> {
  const found = new Map<string, NetworkInterface | Error>();
  for (let at = 0; at < addresses.length; at += MOST_VALUES) {
    const Values = addresses.slice(at, at + MOST_VALUES);
    try {
      const Filters = [
        { Name: 'attachment.status', Values: ['attached'] },
        { Name: 'vpc-id', Values: [vpcId] },
        { Name: 'private-ip-address', Values },
      ];
      for (const one of await pages(ec2, call, 'DescribeNetworkInterfaces', { Filters, MaxResults: 1_000 }))
        found.set(one.PrivateIpAddress ?? '', one);
    } catch (error) {
      call.signal.throwIfAborted();
      for (const address of Values) found.set(address, asError(error));
    }
  }
  return found;
}
