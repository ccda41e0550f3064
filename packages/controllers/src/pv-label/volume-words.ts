/** What people read about PersistentVolumes: in Events, warnings and explanations. */
import { reasonOf } from '../load-balancer/failure.ts';
import type { LabelDifference, VolumeAdditions } from './plan.ts';

export function failureText(error: Error): string {
  return `The cloud could not say where the volume can be used: ${reasonOf(error)}; it is asked again by the controller`;
}

export function differencesText(differences: readonly LabelDifference[]): string {
  const each = differences.map(({ key, volume, cloud }) => `${key} is ${volume}, the cloud says ${cloud}`);
  return `Labels differ from what the cloud says, and nothing is changed: ${each.join('; ')}. Correct the label, or remove it to have it set`;
}

export function invalidText(labels: readonly string[]): string {
  return `The cloud's answer cannot be a label, and nothing is changed: ${labels.join(', ')}. This is a defect of the provider`;
}

/** A clause without a subject. */
export function additionsText({ labels, requirements }: VolumeAdditions): string {
  const set = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  const required = requirements.map(({ key, values = [] }) => `${key} in (${values.join(', ')})`);
  return [
    ...(set.length > 0 ? [`set the labels ${set.join(', ')}`] : []),
    ...(required.length > 0 ? [`require ${required.join(' and ')} of nodes`] : []),
  ].join(', ');
}
