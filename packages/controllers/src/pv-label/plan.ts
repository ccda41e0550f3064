/** What is to be done for one PersistentVolume, from the volume and the cloud's answer. Pure; the webhook's plan as well. */
import type { VolumeRef, VolumeResult } from '@outrigger/cloud-provider';
import type { NodeSelectorRequirement, PersistentVolume } from '@outrigger/kube';
import { isLabelValue } from '../node/label-syntax.ts';
import { regionLabel, zoneLabel } from '../node/well-known-names.ts';
import { volumeRefOf } from './volume-source.ts';

/** Between the zones of a volume that can be used in several; the scheduler knows it. */
const MULTI_ZONE_DELIMITER = '__';
const TOPOLOGY = [zoneLabel, regionLabel] as const;

export interface LabelDifference {
  readonly key: string;
  /** What the object says. */
  readonly volume: string;
  readonly cloud: string;
}

/** What is added; nothing of it is there yet. Not empty. */
export interface VolumeAdditions {
  readonly labels: Readonly<Record<string, string>>;
  /** Required of nodes, all of them. Empty: the object has a node affinity, which stays. */
  readonly requirements: readonly NodeSelectorRequirement[];
}

export type VolumePlan =
  | {
      readonly kind: 'nothing';
      readonly reason: 'going-away' | 'no-cloud-volume' | 'complete' | 'not-ours' | 'nowhere';
    }
  /** The cloud is to be asked. */
  | { readonly kind: 'look-up'; readonly volume: VolumeRef }
  /** The cloud could not say. */
  | { readonly kind: 'failed'; readonly error: Error }
  /** The object says otherwise than the cloud: a person decides. */
  | { readonly kind: 'differs'; readonly differences: readonly LabelDifference[] }
  /** The API server would refuse what the cloud says: `key=value`. */
  | { readonly kind: 'invalid'; readonly labels: readonly string[] }
  | { readonly kind: 'add'; readonly additions: VolumeAdditions };

/** `answer`: `undefined` while the cloud has not been asked. */
export function planVolume(volume: PersistentVolume, answer: VolumeResult | undefined): VolumePlan {
  if (volume.metadata?.deletionTimestamp) return { kind: 'nothing', reason: 'going-away' };
  const ref = volumeRefOf(volume);
  if (!ref) return { kind: 'nothing', reason: 'no-cloud-volume' };
  const labels = volume.metadata?.labels ?? {};
  const hasAffinity = volume.spec?.nodeAffinity != null;
  if (hasAffinity && TOPOLOGY.every((pair) => labelled(labels, pair) !== undefined)) {
    return { kind: 'nothing', reason: 'complete' };
  }
  if (!answer) return { kind: 'look-up', volume: ref };
  if (answer.kind === 'failed') return answer;
  if (answer.kind === 'unknown') return { kind: 'nothing', reason: 'not-ours' };
  return planAdditions(labels, hasAffinity, answer.labels);
}

function planAdditions(
  labels: Readonly<Record<string, string>>,
  hasAffinity: boolean,
  cloud: Readonly<Record<string, string>>,
): VolumePlan {
  const found = TOPOLOGY.flatMap((pair) => {
    const value = cloud[pair.stable];
    return value ? [{ key: pair.stable, cloud: value, volume: labelled(labels, pair) }] : [];
  });
  const invalid = found.filter(({ cloud }) => !isTopology(cloud));
  if (invalid.length > 0) return { kind: 'invalid', labels: invalid.map(({ key, cloud }) => `${key}=${cloud}`) };
  const differences = found.flatMap(({ key, cloud, volume }) =>
    volume === undefined || isSame(volume, cloud) ? [] : [{ key, volume, cloud }],
  );
  if (differences.length > 0) return { kind: 'differs', differences };
  const missing = found.filter(({ volume }) => volume === undefined);
  const required = hasAffinity ? [] : found;
  if (missing.length + required.length === 0) return { kind: 'nothing', reason: 'nowhere' };
  return {
    kind: 'add',
    additions: {
      labels: Object.fromEntries(missing.map(({ key, cloud }) => [key, cloud])),
      requirements: required.map(({ key, cloud }) => ({ key, operator: 'In', values: zonesOf(cloud) })),
    },
  };
}

/** Under either name: the scheduler takes both. */
function labelled(
  labels: Readonly<Record<string, string>>,
  { beta, stable }: (typeof TOPOLOGY)[number],
): string | undefined {
  return labels[stable] ?? labels[beta];
}

/** As a label, and each zone as a value in the node affinity. */
function isTopology(value: string): boolean {
  const zones = zonesOf(value);
  return isLabelValue(value) && zones.length > 0 && zones.every(isLabelValue);
}

function zonesOf(value: string): string[] {
  return value.split(MULTI_ZONE_DELIMITER).filter((zone) => zone !== '');
}

/** The order of zones means nothing. */
function isSame(one: string, other: string): boolean {
  return zonesOf(one).toSorted().join() === zonesOf(other).toSorted().join();
}
