/** From actions to the patches that the API server gets. Pure. */
import type { JsonPatchOperation, Node, Patch } from '@outrigger/kube';
import type { PatchObject, PatchStatus } from './actions.ts';
import type { LabelSet } from './labels.ts';
import { uninitializedTaints } from './taints.ts';

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
  readonly resourceVersion: string | undefined;
}

/**
 * A JSON patch that fails (422) rather than undo what another writer has done since `node` was read: each taint is tested
 * before it is removed, and where a label may only be added, or the map of labels has to be made, the resourceVersion too.
 * `undefined` when nothing is left to do.
 */
export function objectPatch(node: Node, action: PatchObject, seen: SeenMetadata): Patch | undefined {
  const labels = seen.labels ?? {};
  const missing = Object.entries(action.addLabels).filter(([key]) => !Object.hasOwn(labels, key));
  const wanted = [...Object.entries(action.setLabels).filter(([key, value]) => labels[key] !== value), ...missing];
  const operations: JsonPatchOperation[] = [];
  // `add /metadata/labels/x` is a 422 on an object without labels.
  if (wanted.length > 0 && !seen.labels) {
    operations.push({ op: 'add', path: '/metadata/labels', value: Object.fromEntries(wanted) });
  } else {
    for (const [key, value] of wanted)
      operations.push({ op: 'add', path: `/metadata/labels/${escapeKey(key)}`, value });
  }
  if (action.providerID) operations.push({ op: 'add', path: '/spec/providerID', value: action.providerID });
  if (action.removeTaint) {
    for (const { index, taint } of uninitializedTaints(node)) {
      operations.push({ op: 'test', path: `/spec/taints/${index}`, value: taint });
      operations.push({ op: 'remove', path: `/spec/taints/${index}` });
    }
  }
  if (operations.length === 0) return undefined;

  const guards: JsonPatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: node.metadata?.uid }];
  if (missing.length > 0 || (wanted.length > 0 && !seen.labels)) {
    guards.push({ op: 'test', path: '/metadata/resourceVersion', value: seen.resourceVersion });
  }
  return { type: 'json', operations: [...guards, ...operations] };
}

/** RFC 6901. */
function escapeKey(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
