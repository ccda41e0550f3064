/** What people are told about nodes whose machines are gone. The first two reasons are upstream's. */
import type { EventNote } from '@outrigger/kube';
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

export function heldNote(name: string): EventNote {
  return {
    type: 'Warning',
    reason: 'NodeDeletionHeld',
    message:
      `Node ${name} is not Ready and the cloud does not have its machine, but so many others are gone too that it is not deleted ` +
      `(--node-deletion-max-fraction). Check the cloud. To let this node be deleted: kubectl annotate node ${name} ${allowDeletionAnnotation}=true`,
  };
}
