/** The taint under which a node waits for its cloud. */
import type { Node, Taint } from '@outrigger/kube';
import { uninitializedTaintKey } from './well-known-names.ts';

/** Whether the node still waits. Value and effect do not matter, as upstream. */
export function isUninitialized(node: Node): boolean {
  return (node.spec?.taints ?? []).some(({ key }) => key === uninitializedTaintKey);
}

/** The entries to remove with their places in the list, the last one first: removing one moves those behind it. */
export function uninitializedTaints(node: Node): readonly { readonly index: number; readonly taint: Taint }[] {
  return (node.spec?.taints ?? [])
    .map((taint, index) => ({ index, taint }))
    .filter(({ taint }) => taint.key === uninitializedTaintKey)
    .reverse();
}
