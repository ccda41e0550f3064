/** Where volumes of the memory cloud can be used. A PersistentVolume has one as a FlexVolume of its driver, by `options.volumeID`. */
import type { CallContext, VolumeRef, VolumeResult, VolumeTopology } from '@outrigger/cloud-provider';
import type { CloudClient } from './cloud-client.ts';
import type { MemoryVolume } from './cloud-model.ts';

/** `spec.flexVolume.driver` of the cloud's volumes. */
const DRIVER = 'outrigger.dev/memory';

export class MemoryVolumes implements VolumeTopology {
  readonly #client: () => CloudClient;

  constructor(client: () => CloudClient) {
    this.#client = client;
  }

  async lookUp(volumes: readonly VolumeRef[], call: CallContext): Promise<readonly VolumeResult[]> {
    const ids = volumes.filter(isOurs).map(({ handle }) => handle);
    const found = ids.length === 0 ? [] : await this.#list(ids, call);
    const byId = new Map(found.map((volume) => [volume.id, volume]));
    return volumes.map((volume) => {
      const known = isOurs(volume) ? byId.get(volume.handle) : undefined;
      return known ? { kind: 'found', labels: labelsOf(known) } : { kind: 'unknown' };
    });
  }

  async #list(ids: readonly string[], call: CallContext): Promise<readonly MemoryVolume[]> {
    const request = { method: 'POST', path: '/volumes:batchGet', body: { ids } } as const;
    const name = 'POST /volumes:batchGet';
    const { volumes } = await this.#client().request<{ volumes: readonly MemoryVolume[] }>(call, name, request);
    return volumes;
  }
}

function isOurs({ driver, source }: VolumeRef): boolean {
  return source === 'flexVolume' && driver === DRIVER;
}

function labelsOf({ region, zones }: MemoryVolume): Readonly<Record<string, string>> {
  return { 'topology.kubernetes.io/zone': zones.join('__'), 'topology.kubernetes.io/region': region };
}
