/** What a PersistentVolume is in a cloud, for the kinds of volume that no CSI driver has spoken for. */
import type { VolumeRef } from '@outrigger/cloud-provider';
import type { PersistentVolume } from '@outrigger/kube';

/** The field of each source that says which volume it is. What is not here has no place in a cloud: `nfs`, `hostPath`, `local` … */
export const volumeHandles: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'volumeID',
  azureDisk: 'diskURI',
  cinder: 'volumeID',
  gcePersistentDisk: 'pdName',
  vsphereVolume: 'volumePath',
};

/**
 * `undefined`: no cloud can say anything about it. CSI volumes are among those: their driver knows where they can be used, in
 * keys of its own, and leaves the node affinity out where it does not matter.
 */
export function volumeRefOf({ metadata, spec }: PersistentVolume): VolumeRef | undefined {
  const { name = '', uid = '' } = metadata ?? {};
  const sources = (spec ?? {}) as Readonly<Record<string, unknown>>;
  for (const [source, field] of Object.entries(volumeHandles)) {
    const handle = fieldOf(sources[source], field);
    if (handle !== undefined) return { name, uid, source, handle };
  }
  const { flexVolume } = sources;
  const driver = fieldOf(flexVolume, 'driver');
  const handle = fieldOf((flexVolume as { readonly options?: unknown } | undefined)?.options, 'volumeID');
  return driver === undefined || handle === undefined ? undefined : { name, uid, source: 'flexVolume', driver, handle };
}

function fieldOf(object: unknown, field: string): string | undefined {
  if (typeof object !== 'object' || object === null) return undefined;
  const value = (object as Readonly<Record<string, unknown>>)[field];
  return typeof value === 'string' && value !== '' ? value : undefined;
}
