/** What the webhook does to a PersistentVolume before it is stored: the controller's plan, once. */
import type { JsonPatchOperation, PersistentVolume } from '@outrigger/kube';
import type { VolumeLookUps } from '@outrigger/cloud-runtime';
import { additionOperations } from './volume-patch.ts';
import { planVolume } from './plan.ts';
import { differencesText, failureText, invalidText } from './volume-words.ts';

export interface NewVolumeAnswer {
  /** Of the object as it was sent. Empty: it stays as it is. */
  readonly operations: readonly JsonPatchOperation[];
  /** For who creates it. */
  readonly warnings: readonly string[];
}

/** Never rejects: a volume that the cloud cannot speak for now is labelled later, by the controller. */
export async function labelNewVolume(volume: PersistentVolume, lookUps: VolumeLookUps): Promise<NewVolumeAnswer> {
  const first = planVolume(volume, undefined);
  const plan = first.kind === 'look-up' ? planVolume(volume, await lookUps.lookUp(first.volume)) : first;
  switch (plan.kind) {
    case 'add':
      return { operations: additionOperations(volume, plan.additions), warnings: [] };
    case 'failed':
      return { operations: [], warnings: [failureText(plan.error)] };
    case 'differs':
      return { operations: [], warnings: [differencesText(plan.differences)] };
    case 'invalid':
      return { operations: [], warnings: [invalidText(plan.labels)] };
    default:
      return { operations: [], warnings: [] };
  }
}
