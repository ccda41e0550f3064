/** What people read about PersistentVolumes: in Events, warnings and explanations. */
import { reasonOf } from '../load-balancer/failure.ts';
import type { LabelDifference, VolumeAdditions } from './plan.ts';

export function failureText(error: Error): string {
  return `The look-up of the volume's topology failed: ${reasonOf(error)}; the controller retries it`;
}

export function differencesText(differences: readonly LabelDifference[]): string {
  const each = differences.map(({ key, volume, cloud }) => `${key} is ${volume}, in the cloud ${cloud}`);
  return `Labels differ from the cloud and are not changed: ${each.join('; ')}. Correct the label, or remove it to have it set`;
}

export function invalidText(labels: readonly string[]): string {
  return `The provider returned invalid labels, and nothing is changed: ${labels.join(', ')}. This is a bug of the provider`;
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
