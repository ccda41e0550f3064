/** Zones of volumes that are no CSI driver's: a PersistentVolume names one as a FlexVolume, by `options.volumeID`. */
import {
  asError,
  isCloudError,
  type CallContext,
  type VolumeRef,
  type VolumeResult,
  type VolumeTopology,
} from '@outrigger/cloud-provider';
import type { HttpClient, RestCollection } from '@outrigger/provider-kit';
import { thingsAt, type Thing } from './api.ts';

/** `spec.flexVolume.driver` of the cloud's volumes. */
const DRIVER = 'my-cloud.example/volume';

interface Volume extends Thing {
  readonly zone: string;
}

export function volumesOf(api: HttpClient): VolumeTopology {
  const volumes = thingsAt<Volume>(api, '/volumes');
  return { lookUp: (refs, call) => Promise.all(refs.map((ref) => lookUp(volumes, ref, call))) };
}

async function lookUp(
  volumes: RestCollection<Volume>,
  { driver, handle, source }: VolumeRef,
  call: CallContext,
): Promise<VolumeResult> {
  if (source !== 'flexVolume' || driver !== DRIVER) return { kind: 'unknown' };
  try {
    const { zone } = await volumes.read(handle, call);
    const labels = { 'topology.kubernetes.io/zone': zone, 'topology.kubernetes.io/region': zone.slice(0, -1) };
    return { kind: 'found', labels };
  } catch (error) {
    if (isCloudError(error, 'not-found')) return { kind: 'unknown' };
    return { kind: 'failed', error: asError(error) };
  }
}
