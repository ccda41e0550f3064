/** The availability zones of cinder's volumes, for PersistentVolumes of the in-tree source `cinder`. Those of `csi` know theirs. */
import {
  asError,
  type CallContext,
  type VolumeRef,
  type VolumeResult,
  type VolumeTopology,
} from '@outrigger/cloud-provider';
import type { ApiClient } from '../client/api-client.ts';
import { readIfThere } from '../client/read-one.ts';
import { labelValueOf } from '../instances/label-value.ts';

interface CinderVolume {
  /** `null` in a cinder without zones. */
  readonly availability_zone: string | null;
}

export class OpenStackVolumes implements VolumeTopology {
  readonly batchSize = 50;
  readonly #client: ApiClient;

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** One `GET` a volume: who is no admin cannot list by IDs, and projects have far more volumes than are asked for. */
  async lookUp(volumes: readonly VolumeRef[], call: CallContext): Promise<readonly VolumeResult[]> {
    const handles = new Set(volumes.filter(isCinder).map(({ handle }) => handle));
    if (handles.size === 0 || !(await this.#client.hasService(call, 'block-storage'))) {
      return volumes.map(() => ({ kind: 'unknown' }));
    }
    const found = await Promise.all(
      Array.from(handles, async (handle) => [handle, await this.#lookUpOne(handle, call)] as const),
    );
    const byHandle = new Map(found);
    return volumes.map((volume) => (isCinder(volume) && byHandle.get(volume.handle)) || { kind: 'unknown' });
  }

  async #lookUpOne(handle: string, call: CallContext): Promise<VolumeResult> {
    try {
      const volume = await readIfThere<CinderVolume>(this.#client, ['block-storage', '/volumes'], handle, call);
      return volume ? this.#resultOf(volume) : { kind: 'unknown' };
    } catch (error) {
      return { kind: 'failed', error: asError(error) };
    }
  }

  /** The names that nodes have their zone and region by: a pod finds its volume by these. */
  #resultOf({ availability_zone: zone }: CinderVolume): VolumeResult {
    const [zoneLabel, regionLabel] = [labelValueOf(zone), labelValueOf(this.#client.region)];
    const labels = {
      ...(zoneLabel !== undefined && { 'topology.kubernetes.io/zone': zoneLabel }),
      ...(regionLabel !== undefined && { 'topology.kubernetes.io/region': regionLabel }),
    };
    return zoneLabel === undefined ? { kind: 'unknown' } : { kind: 'found', labels };
  }
}

function isCinder({ source }: VolumeRef): boolean {
  return source === 'cinder';
}
