/** Which labels a node gets: instance type, zone and region under both names, and the provider's own. Pure. */
import type { Instance } from '@outrigger/cloud-provider';
import { isLabelKey, isLabelValue } from './label-syntax.ts';
import { instanceTypeLabel, labelPairs, regionLabel, zoneLabel, type LabelPair } from './well-known-names.ts';

export type LabelSet = Readonly<Record<string, string>>;

/** A label that the node has with another value than the cloud gives. */
export interface LabelDifference {
  readonly key: string;
  readonly node: string;
  readonly cloud: string;
}

/** What is to happen to the labels of one node. */
export interface LabelPlan {
  /** Set, whatever is there. */
  readonly set: LabelSet;
  /** Set only where the node has no such label. */
  readonly addMissing: LabelSet;
  readonly differences: readonly LabelDifference[];
  /** `key=value` pairs of the cloud that are no valid labels. They are left out. */
  readonly invalid: readonly string[];
}

/** Kubernetes keeps these for itself: a provider's own labels may not be there. Source: upstream's `k8sNamespaceRegex`. */
export const RESERVED: RegExp = /(^|\.)(kubernetes|k8s)\.io\//;

/** When a node is initialised: the cloud's type, zone and region replace what the kubelet said; its other labels are added. */
export function initialLabels(labels: LabelSet, instance: Instance): LabelPlan {
  const collected = collect(instance);
  const set: Record<string, string> = {};
  for (const [pair, value] of collected.pairs) {
    for (const key of [pair.stable, pair.beta]) if (labels[key] !== value) set[key] = value;
  }
  // Where the cloud says nothing, beta → GA is due all the same; now it needs no write of its own.
  Object.assign(set, stableFromBeta({ ...labels, ...set }));
  return { set, ...additional(labels, collected), invalid: collected.invalid };
}

/** Later on: missing labels are added, existing ones stay as they are, and what differs is told. */
export function laterLabels(labels: LabelSet, instance: Instance): LabelPlan {
  const collected = collect(instance);
  const more = additional(labels, collected);
  const addMissing: Record<string, string> = { ...more.addMissing };
  const differences: LabelDifference[] = [...more.differences];
  for (const [pair, value] of collected.pairs) {
    const found = [pair.stable, pair.beta].filter((key) => Object.hasOwn(labels, key) && labels[key] !== value);
    for (const key of found) differences.push({ key, node: labels[key] ?? '', cloud: value });
    // Beside one that differs, the missing one would be the cloud's word against the node's, and beta → GA would carry it on.
    if (found.length > 0) continue;
    for (const key of [pair.stable, pair.beta]) if (!Object.hasOwn(labels, key)) addMissing[key] = value;
  }
  return { set: stableFromBeta(labels), addMissing, differences, invalid: collected.invalid };
}

/**
 * Stable labels that are missing or differ from their beta ones; the beta label is the source.
 * Source: upstream's `reconcileNodeLabels`.
 */
export function stableFromBeta(labels: LabelSet): LabelSet {
  const set: Record<string, string> = {};
  for (const { stable, beta } of labelPairs) {
    const value = labels[beta];
    if (value !== undefined && labels[stable] !== value) set[stable] = value;
  }
  return set;
}

interface Collected {
  readonly pairs: readonly (readonly [LabelPair, string])[];
  readonly own: readonly (readonly [string, string])[];
  readonly invalid: readonly string[];
}

function collect(instance: Instance): Collected {
  const invalid: string[] = [];
  const pairs = (
    [
      [instanceTypeLabel, instance.type],
      [zoneLabel, instance.zone],
      [regionLabel, instance.region],
    ] as const
  ).flatMap(([pair, value]): (readonly [LabelPair, string])[] => {
    if (!value) return [];
    if (isLabelValue(value)) return [[pair, value]];
    invalid.push(`${pair.stable}=${value}`);
    return [];
  });
  const own = Object.entries(instance.labels ?? {}).filter(([key, value]) => {
    if (RESERVED.test(key)) return false;
    if (isLabelKey(key) && isLabelValue(value)) return true;
    invalid.push(`${key}=${value}`);
    return false;
  });
  return { pairs, own, invalid };
}

function additional(labels: LabelSet, { own }: Collected): Pick<LabelPlan, 'addMissing' | 'differences'> {
  const addMissing: Record<string, string> = {};
  const differences: LabelDifference[] = [];
  for (const [key, cloud] of own) {
    const node = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (node === undefined) addMissing[key] = cloud;
    else if (node !== cloud) differences.push({ key, node, cloud });
  }
  return { addMissing, differences };
}
