/** From actions to the patches that the API server gets. Pure. */
import type { JsonPatchOperation, Node, Patch } from '@outrigger/kube';
import type { NodeAction, PatchObject, PatchStatus } from './actions.ts';
import type { LabelSet } from './labels.ts';
import { uninitializedTaints } from './taints.ts';

/** `undefined`: there is nothing to write. `seen`: what the write before it was answered with. Default: the metadata of the node. */
export function patchOf(node: Node, action: NodeAction, seen?: SeenMetadata): Patch | undefined {
  if (action.kind === 'event' || action.kind === 'tag-machine') return undefined;
  if (action.kind === 'patch-status') return statusPatch(node, action);
  const { annotations, labels, resourceVersion } = seen ?? node.metadata ?? {};
  return objectPatch(node, action, { annotations, labels, resourceVersion });
}

/**
 * Strategic, because conditions are merged by type then, in one step with whoever writes the others. Addresses have the same
 * merge key, by which the second InternalIP would be lost: `$patch: replace` puts the whole list in place instead. The UID
 * makes it fail for another node of the same name.
 */
export function statusPatch(node: Node, action: PatchStatus): Patch {
  return {
    type: 'strategic',
    body: {
      ...(node.metadata?.uid && { metadata: { uid: node.metadata.uid } }),
      status: {
        ...(action.addresses && { addresses: [...action.addresses, { $patch: 'replace' }] }),
        ...(action.conditions && { conditions: action.conditions }),
      },
    },
  };
}

/** The metadata of a node as last seen. */
export interface SeenMetadata {
  readonly labels: LabelSet | undefined;
  readonly annotations?: LabelSet | undefined;
  readonly resourceVersion: string | undefined;
}

/**
 * A JSON patch that fails (422) rather than undo what another writer has done since `node` was read: each taint is tested
 * before it is removed, and where a label may only be added, or the map of labels or annotations has to be made, the resourceVersion too.
 * `undefined` when nothing is left to do.
 */
export function objectPatch(node: Node, action: PatchObject, seen: SeenMetadata): Patch | undefined {
  const labels = seen.labels ?? {};
  const missing = Object.entries(action.addLabels).filter(([key]) => !Object.hasOwn(labels, key));
  const wanted = [...Object.entries(action.setLabels).filter(([key, value]) => labels[key] !== value), ...missing];
  const annotations = Object.entries(action.setAnnotations ?? {}).filter(
    ([key, value]) => seen.annotations?.[key] !== value,
  );
  const operations = [
    ...entries('labels', wanted, seen.labels),
    ...entries('annotations', annotations, seen.annotations),
  ];
  if (action.providerID) operations.push({ op: 'add', path: '/spec/providerID', value: action.providerID });
  if (action.removeTaint) {
    for (const { index, taint } of uninitializedTaints(node)) {
      operations.push({ op: 'test', path: `/spec/taints/${index}`, value: taint });
      operations.push({ op: 'remove', path: `/spec/taints/${index}` });
    }
  }
  if (operations.length === 0) return undefined;

  const guards: JsonPatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: node.metadata?.uid }];
  const makesMap = (wanted.length > 0 && !seen.labels) || (annotations.length > 0 && !seen.annotations);
  if (missing.length > 0 || makesMap) {
    guards.push({ op: 'test', path: '/metadata/resourceVersion', value: seen.resourceVersion });
  }
  return { type: 'json', operations: [...guards, ...operations] };
}

function entries(
  map: 'labels' | 'annotations',
  wanted: readonly (readonly [string, string])[],
  seen: LabelSet | undefined,
): JsonPatchOperation[] {
  // `add /metadata/labels/x` is a 422 on an object without labels.
  if (wanted.length > 0 && !seen) return [{ op: 'add', path: `/metadata/${map}`, value: Object.fromEntries(wanted) }];
  return wanted.map(([key, value]) => ({ op: 'add', path: `/metadata/${map}/${escapeKey(key)}`, value }));
}

/** RFC 6901. */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
