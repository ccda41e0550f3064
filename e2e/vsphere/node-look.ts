/** What of a node must stay as it is while it goes from one manager to another. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { Node } from '@outrigger/kube';

export interface NodeLook {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly providerID: string | undefined;
  readonly addresses: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly taints: readonly string[];
}

export function lookOf({ metadata, spec, status }: Node): NodeLook {
  return {
    uid: metadata?.uid,
    resourceVersion: metadata?.resourceVersion,
    providerID: spec?.providerID,
    addresses: (status?.addresses ?? []).map(({ address, type }) => `${type} ${address}`),
    labels: metadata?.labels ?? {},
    annotations: metadata?.annotations ?? {},
    taints: (spec?.taints ?? []).map(({ key }) => key),
  };
}

/** What labels or annotations were added; fails where one that was there has changed. */
export function newKeys(
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): readonly string[] {
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key));
  const kept = Object.fromEntries(Object.entries(after).filter(([key]) => Object.hasOwn(before, key)));
  assert.ok(isDeepStrictEqual(kept, { ...before }), JSON.stringify([before, after]));
  return added.toSorted();
}
