/** What the plan adds to a PersistentVolume, as a JSON patch: the controller's and the webhook's. Pure. */
import type { JsonPatchOperation, Patch, PersistentVolume } from '@outrigger/kube';
import type { VolumeAdditions } from './plan.ts';

/** For the object exactly as it was planned from: `add` would put its value over one that has come meanwhile. */
export function additionOperations(
  volume: PersistentVolume,
  { labels, requirements }: VolumeAdditions,
): readonly JsonPatchOperation[] {
  const added = Object.entries(labels);
  const operations: JsonPatchOperation[] = [];
  if (added.length > 0 && volume.metadata?.labels == null) {
    operations.push({ op: 'add', path: '/metadata/labels', value: labels });
  } else {
    for (const [key, value] of added) operations.push({ op: 'add', path: `/metadata/labels/${escape(key)}`, value });
  }
  if (requirements.length > 0) {
    const value = { required: { nodeSelectorTerms: [{ matchExpressions: requirements }] } };
    operations.push({ op: 'add', path: '/spec/nodeAffinity', value });
  }
  return operations;
}

/** One write. Refused (422) when the volume is another one, or has changed since it was read. */
export function additionPatch(volume: PersistentVolume, additions: VolumeAdditions): Patch {
  const { uid, resourceVersion } = volume.metadata ?? {};
  return {
    type: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: uid },
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      ...additionOperations(volume, additions),
    ],
  };
}

/** RFC 6901. */
function escape(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}
