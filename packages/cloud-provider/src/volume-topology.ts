/** Where a volume can be used: what the persistent-volume-label controller and webhook ask. Upstream: `PVLabeler`. */
import type { CallContext } from './call-context.ts';

/** A PersistentVolume, as far as a cloud needs to know it. */
export interface VolumeRef {
  readonly name: string;
  readonly uid: string;
  /** The name of the source's field in `spec`: `awsElasticBlockStore`, `cinder`, `flexVolume` … Never `csi`: its driver knows. */
  readonly source: string;
  /** `spec.flexVolume.driver`. */
  readonly driver?: string | undefined;
  /** The volume's own name in the cloud: the source's ID field (of `cinder`, `volumeID`), or `spec.flexVolume.options.volumeID`. */
  readonly handle: string;
}

/** `unknown`: not a volume of this cloud, or not found; it is left alone. */
export type VolumeResult =
  | { readonly kind: 'found'; readonly labels: Readonly<Record<string, string>> }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'failed'; readonly error: Error };

export interface VolumeTopology {
  /** Most volumes that one `lookUp` takes. The host never gives more. Default: 100. */
  readonly batchSize?: number | undefined;
  /**
   * Labels for volumes (`topology.kubernetes.io/zone` and `region`), in the order of `volumes`. Several zones are joined by
   * `__`, as upstream's `LabelMultiZoneDelimiter`. Called when a PV appears without them; by the webhook with 5 s to answer.
   */
  lookUp(volumes: readonly VolumeRef[], call: CallContext): Promise<readonly VolumeResult[]>;
}
