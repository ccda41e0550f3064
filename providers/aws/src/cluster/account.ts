/** Where the cluster's instances are: what a "not found" of EC2 proves depends on it. */
import { CloudError, ClusterPlace, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';

/**
 * Account and region. Not the VPC: an ID of an instance is found in all of them, and one that the config names wrong hides nothing
 * that is read by ID.
 */
export function placeOf(client: Pick<AwsClient, 'region' | 'sts'>): ClusterPlace {
  return new ClusterPlace({
    what: 'account and region',
    machine: 'instance',
    setBy: 'the credentials, and RoleARN and Region in [Global] of the cloud config',
    ask: (call) => accountOf(client, call),
  });
}

/** `123456789012/eu-central-1`. Whoever has credentials may ask. */
export async function accountOf(client: Pick<AwsClient, 'region' | 'sts'>, call: CallContext): Promise<string> {
  const [{ Account = '' }, region] = await Promise.all([
    client.sts(call, 'GetCallerIdentity', {}),
    client.region(call),
  ]);
  if (Account === '') throw new CloudError('unavailable', 'STS did not say whose account the credentials are of');
  return `${Account}/${region}`;
}
