/** Network interfaces of instances, and the names that EC2 gives their addresses. */
import type { AwsAccount } from '../aws-account.ts';
import type { NetworkInterface } from '../things.ts';

/** By instance, in no order that anybody may rely on: as EC2, which does not sort them by device index either. */
export function interfacesOf(account: AwsAccount): ReadonlyMap<string, readonly NetworkInterface[]> {
  return Map.groupBy(account.interfaces.list(), ({ attachment }) => attachment?.instanceId ?? '');
}

export function seenInterfaces(account: AwsAccount, instanceId: string): readonly NetworkInterface[] {
  return account.interfaces.all().filter(({ attachment }) => attachment?.instanceId === instanceId);
}

export function publicNameOf({ region }: AwsAccount, ip: string): string {
  const domain = region === 'us-east-1' ? 'compute-1' : `${region}.compute`;
  return `ec2-${ip.replaceAll('.', '-')}.${domain}.amazonaws.com`;
}

export function privateNameOf({ region }: AwsAccount, ip: string): string {
  return `ip-${ip.replaceAll('.', '-')}.${privateDomainOf(region)}`;
}

/** https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/hostname-types.html */
export function privateDomainOf(region: string): string {
  return region === 'us-east-1' ? 'ec2.internal' : `${region}.compute.internal`;
}

export function statusOf({ attachment }: NetworkInterface): string {
  if (!attachment) return 'available';
  return attachment.status === 'attached' ? 'in-use' : attachment.status;
}

export function groupsView(account: AwsAccount, ids: readonly string[]): readonly object[] {
  return ids.map((GroupId) => ({ GroupId, GroupName: account.groups.get(GroupId)?.name ?? '' }));
}
