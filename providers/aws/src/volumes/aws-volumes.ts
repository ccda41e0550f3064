/** The zones of EBS volumes, for PersistentVolumes of the in-tree source `awsElasticBlockStore`. Those of `csi` know theirs. */
import type { CallContext, VolumeRef, VolumeResult, VolumeTopology } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import { pages } from '../client/pages.ts';

export interface AwsVolumesSetup {
  readonly client: AwsClient;
}

export function createAwsVolumes({ client }: AwsVolumesSetup): VolumeTopology {
  return {
    // As many values as one filter takes. By a filter, so that an ID that is not there fails nothing.
    batchSize: 200,
    async lookUp(volumes, call) {
      const ids = volumes.map(volumeIdOf);
      const zones = await zonesOf(client, new Set(ids.filter((id) => id !== undefined)), call);
      const region = zones.size === 0 ? '' : await client.region(call);
      return ids.map((id): VolumeResult => {
        const zone = id === undefined ? undefined : zones.get(id);
        if (zone === undefined) return { kind: 'unknown' };
        return {
          kind: 'found',
          labels: { 'topology.kubernetes.io/zone': zone, 'topology.kubernetes.io/region': region },
        };
      });
    },
  };
}

/** By ID, of those that there are. All pages or an error, never a part. */
async function zonesOf(
  client: AwsClient,
  ids: ReadonlySet<string>,
  call: CallContext,
): Promise<ReadonlyMap<string, string>> {
  if (ids.size === 0) return new Map();
  const Filters = [{ Name: 'volume-id', Values: [...ids] }];
  const volumes = await pages(client.ec2, call, 'DescribeVolumes', { Filters, MaxResults: 500 });
  return new Map(
    volumes.flatMap(({ AvailabilityZone: zone, VolumeId: id }) => (id && zone ? [[id, zone] as const] : [])),
  );
}

/** Of `vol-…`, and of `aws://us-east-1a/vol-…` with or without a zone, which a person may have written: EC2 says which it is. */
function volumeIdOf({ handle, source }: VolumeRef): string | undefined {
  if (source !== 'awsElasticBlockStore') return undefined;
  return /^(?:aws:\/\/[a-z0-9-]*\/)?(?<id>vol-[0-9a-f]+)$/u.exec(handle)?.groups?.['id'];
}
