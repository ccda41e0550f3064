/** What people are told about nodes whose machines are gone. The first two reasons are upstream's. */
import type { EventNote } from '@outrigger/kube';
import type { LifecycleHold } from './plan.ts';
import { allowDeletionAnnotation } from './well-known-names.ts';

export function deletingNote(name: string): EventNote {
  return {
    type: 'Normal',
    reason: 'DeletingNode',
    message: `Deleting node ${name} because its machine does not exist in the cloud.`,
  };
}

export function deletionFailedNote(name: string, error: unknown): EventNote {
  const why = error instanceof Error ? error.message : String(error);
  return { type: 'Warning', reason: 'DeletingNodeFailed', message: `Node ${name} could not be deleted: ${why}` };
}

/** Why a node is held, and until when. */
export const HOLDS: Readonly<Record<LifecycleHold, string>> = {
  'large-share':
    'so many others are gone too (--node-deletion-max-fraction) that it is deleted only when this has been so for 6 minutes',
  everything:
    'no machine of this cluster is found any more, so that it is deleted only when this has been so for 30 minutes',
  'no-witness':
    'the cloud does not have the machines of nodes that are Ready either, so that it is not believed, and nothing is deleted',
  'unproved-place':
    'no machine of this cluster is found any more, and it is not proved that the account, project or region that was asked is the one in which they were, so that nothing is deleted',
};

export function heldNote(name: string, hold: LifecycleHold): EventNote {
  return {
    type: 'Warning',
    reason: 'NodeDeletionHeld',
    message:
      `Node ${name} is not Ready and the cloud does not have its machine, but ${HOLDS[hold]}. ` +
      `Check the cloud and the credentials. To let this node be deleted earlier: kubectl annotate node ${name} ${allowDeletionAnnotation}=true`,
  };
}
