/** Look-ups of volumes where there are several clouds: a volume says what it is called there, and not in which of them. */
import {
  CloudError,
  quote,
  type CallPriority,
  type VolumeRef,
  type VolumeResult,
  type VolumeTopology,
} from '@outrigger/cloud-provider';
import { createVolumeLookUps, type OpenedProvider, type VolumeLookUps } from '@outrigger/cloud-runtime';
import type { Clock } from '@outrigger/kube';

export type VolumeCloud = Pick<OpenedProvider, 'callContext' | 'capabilities' | 'name'>;

export interface VolumesOfCloudsOptions {
  readonly clock: Clock;
  /** Of every call. */
  readonly priority: CallPriority;
  /** Of one call. Default: that of `createVolumeLookUps`. */
  readonly callTimeoutMs?: number;
  /** Ends the look-ups. */
  readonly signal: AbortSignal;
}

/** All clouds together. What a node affinity says cannot be changed any more: of two that know a volume, neither is believed. */
export class VolumesOfClouds implements VolumeLookUps {
  readonly #clouds: readonly VolumeCloud[];
  readonly #options: VolumesOfCloudsOptions;
  readonly #known = new WeakMap<VolumeTopology, VolumeLookUps>();

  constructor(clouds: readonly VolumeCloud[], options: VolumesOfCloudsOptions) {
    this.#clouds = clouds;
    this.#options = options;
  }

  /** Whether there is a cloud that can be asked. */
  get areThere(): boolean {
    return this.#clouds.some(({ capabilities }) => capabilities.volumes);
  }

  /** Whichever cloud knows it. One that fails may be the one that would. */
  async lookUp(volume: VolumeRef, signal?: AbortSignal): Promise<VolumeResult> {
    const results = await Promise.all(this.#clouds.map((cloud) => this.#ask(cloud, volume, signal)));
    const found = results.flatMap((result, i) => (result.kind === 'found' ? [this.#clouds[i]?.name ?? ''] : []));
    if (found.length > 1) return ambiguous(volume, found);
    const by = (kind: VolumeResult['kind']): VolumeResult | undefined => results.find((result) => result.kind === kind);
    return by('found') ?? by('failed') ?? { kind: 'unknown' };
  }

  /** For the controllers of this cloud: what it says itself, unless another one knows such a volume too. */
  of(own: VolumeCloud): VolumeLookUps {
    return {
      lookUp: async (volume, signal) => {
        const result = await this.#ask(own, volume, signal);
        if (result.kind !== 'found' || this.#clouds.length < 2) return result;
        const others = this.#clouds.filter(({ name }) => name !== own.name);
        const results = await Promise.all(others.map((cloud) => this.#ask(cloud, volume, signal)));
        const found = others.filter((_, i) => results[i]?.kind === 'found');
        return found.length === 0
          ? result
          : ambiguous(
              volume,
              [own, ...found].map(({ name }) => name),
            );
      },
    };
  }

  #ask(cloud: VolumeCloud, volume: VolumeRef, signal: AbortSignal | undefined): Promise<VolumeResult> {
    const { volumes } = cloud.capabilities;
    if (!volumes) return Promise.resolve({ kind: 'unknown' });
    let lookUps = this.#known.get(volumes);
    if (!lookUps) {
      const callContext: OpenedProvider['callContext'] = (wanted) => cloud.callContext(wanted);
      lookUps = createVolumeLookUps({ ...this.#options, volumes, callContext });
      this.#known.set(volumes, lookUps);
    }
    return lookUps.lookUp(volume, signal);
  }
}

function ambiguous({ handle }: VolumeRef, clouds: readonly string[]): VolumeResult {
  const text = `each of the clouds ${clouds.join(', ')} has a volume ${quote(handle)}; set the zone and the node affinity yourself`;
  return { kind: 'failed', error: new CloudError('conflict', text) };
}
