/** The taint of a node whose machine is shut down, and the patches that put it there and take it away. Pure. */
import type { JsonPatchOperation, Node, Patch, Taint } from '@outrigger/kube';
import { shutdownTaintKey } from './well-known-names.ts';

const shutdownTaint: Taint = { key: shutdownTaintKey, effect: 'NoSchedule' };

function isShutdownTaint({ key, effect }: Taint): boolean {
  return key === shutdownTaint.key && effect === shutdownTaint.effect;
}

export function hasShutdownTaint(node: Node): boolean {
  return (node.spec?.taints ?? []).some(isShutdownTaint);
}

/** Refused (422) when the node has changed since it was read: it may be Ready again, or have taints from somebody else. */
export function addShutdownTaint(node: Node): Patch {
  const { uid, resourceVersion } = node.metadata ?? {};
  const { taints } = node.spec ?? {};
  const place: JsonPatchOperation = taints
    ? { op: 'add', path: `/spec/taints/${taints.length}`, value: shutdownTaint }
    : { op: 'add', path: '/spec/taints', value: [shutdownTaint] };
  return {
    type: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      place,
    ],
  };
}

/** Refused (422) when the taint is not where it was. */
export function removeShutdownTaint(node: Node): Patch {
  const removals = (node.spec?.taints ?? [])
    .map((taint, index) => ({ taint, path: `/spec/taints/${index}` }))
    .filter(({ taint }) => isShutdownTaint(taint))
    .reverse()
    .flatMap(({ taint, path }): JsonPatchOperation[] => [
      { op: 'test', path, value: taint },
      { op: 'remove', path },
    ]);
  return { type: 'json', operations: [{ op: 'test', path: '/metadata/uid', value: node.metadata?.uid }, ...removals] };
}
