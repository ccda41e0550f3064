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
  const message = `Node ${name} could not be deleted: ${why}. It is retried; correct what the error names.`;
  return { type: 'Warning', reason: 'DeletingNodeFailed', message };
}

/** Why a node is held, and until when. */
export const HOLDS: Readonly<Record<LifecycleHold, string>> = {
  'large-share':
    'so many other machines are missing too (--node-deletion-max-fraction) that it will be deleted only after 6 minutes of proof',
  everything: 'no machine of this cluster is found any more, so it will be deleted only after 30 minutes of proof',
  'no-witness':
    'the cloud does not find the machines of Ready nodes either, so its answers are not trusted and nothing is deleted',
  'unproved-place':
    'no machine of this cluster is found any more, and it is not proved that this is the account, project or region in which they were, so nothing is deleted',
};

export function heldNote(name: string, hold: LifecycleHold): EventNote {
  return {
    type: 'Warning',
    reason: 'NodeDeletionHeld',
    message:
      `Node ${name} is not Ready and the cloud does not find its machine, but ${HOLDS[hold]}. ` +
      `Check the cloud and the credentials. To allow this node to be deleted earlier: kubectl annotate node ${name} ${allowDeletionAnnotation}=true`,
  };
}

/** Of a machine that has not been read for minutes. */
export const NO_TURN = 'Reads of other machines fail or prove nothing, so its machine could not be read for minutes.';

/** Of a machine that neither a list nor a read finds, where the read proves nothing. */
export const NO_PROOF = 'The cloud does not find its machine, and cannot prove that it does not exist.';

/** The cloud has said again and again what proves neither that the machine is there nor that it is gone. */
export function unprovedNote(name: string, why: string): EventNote {
  const message = `Node ${name} is kept: it is not known whether its machine is gone. If it is: kubectl delete node ${name}. ${why}`;
  return { type: 'Warning', reason: 'NodeDeletionUnproved', message };
}
