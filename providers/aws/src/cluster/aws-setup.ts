/** What each capability of the provider works with. The objects stay the same when the cloud config changes; what they say is of now. */
import type { ClusterPlace, ProviderHost } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { AwsConfig } from '../config/aws-config.ts';
import type { OwnCluster } from './own-cluster.ts';

export interface AwsSetup {
  /** The provider's: the prefix of provider IDs. */
  readonly name: string;
  readonly host: ProviderHost;
  /** Asks with the credentials, and at the end points, of the config that is in use. */
  readonly client: AwsClient;
  /** The config that is in use. */
  readonly config: () => AwsConfig;
  /** The tags of the cluster and its VPC, which may be found late. */
  readonly cluster: OwnCluster;
  /** What a "not found" proves. */
  readonly place: ClusterPlace;
}
