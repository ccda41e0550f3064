/** For tests: PersistentVolumes, and what the cloud says of them. */
import type { VolumeRef, VolumeResult } from '@outrigger/cloud-provider';
import type { PersistentVolume } from '@outrigger/kube';

export const ZONE = 'topology.kubernetes.io/zone';
export const REGION = 'topology.kubernetes.io/region';
export const BETA_ZONE = 'failure-domain.beta.kubernetes.io/zone';

export interface VolumeSpec {
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Zones that nodes must be in. */
  readonly affinity?: readonly string[];
  /** In place of a FlexVolume of the driver `outrigger.dev/memory`, whose volume is called as the object. */
  readonly source?: Readonly<Record<string, unknown>>;
  readonly deletionTimestamp?: string;
}

export function volumeOf(name: string, spec: VolumeSpec = {}): PersistentVolume {
  const { affinity, deletionTimestamp, labels, uid = `uid-${name}` } = spec;
  const source = spec.source ?? {
    flexVolume: { driver: 'outrigger.dev/memory', options: { volumeID: name } },
  };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: {
      name,
      uid,
      ...(labels && { labels: { ...labels } }),
      ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      capacity: { storage: '1Gi' },
      ...source,
      ...(affinity && {
        nodeAffinity: {
          required: {
            nodeSelectorTerms: [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [...affinity] }] }],
          },
        },
      }),
    },
  };
}

export const found = (labels: Readonly<Record<string, string>>): VolumeResult => ({ kind: 'found', labels });

export const inZone = (zone: string): VolumeResult => found({ [ZONE]: zone, [REGION]: 'region-1' });

/** Answers by handle, which a test can change; all that is asked in one turn is one call. */
export class TellingCloud {
  readonly batchSize: number = 100;
  readonly answers: Map<string, VolumeResult> = new Map();
  readonly calls: (readonly string[])[] = [];

  lookUp(volumes: readonly VolumeRef[]): Promise<readonly VolumeResult[]> {
    this.calls.push(volumes.map(({ handle }) => handle));
    return Promise.resolve(volumes.map(({ handle }) => this.answers.get(handle) ?? { kind: 'unknown' }));
  }
}
