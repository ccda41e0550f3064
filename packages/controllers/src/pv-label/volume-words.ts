/** What people read about PersistentVolumes: in Events, warnings and explanations. */
import { quote, type VolumeResult } from '@outrigger/cloud-provider';
import type { PersistentVolume } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import { reasonOf } from '../load-balancer/failure.ts';
import { factOfAction, type ActionState } from '../planned-action.ts';
import type { LabelDifference, VolumeAdditions, VolumePlan } from './plan.ts';
import { volumeHandles, volumeRefOf } from './volume-source.ts';

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

const IDLE: Readonly<Record<Extract<VolumePlan, { kind: 'nothing' }>['reason'], string>> = {
  'going-away': 'Nothing: the volume is being deleted.',
  'no-cloud-volume': `Nothing: only volumes of ${Object.keys(volumeHandles).join(', ')} and flexVolume are looked up; a CSI driver sets the topology of its own.`,
  complete: 'Nothing: it has its zone and region labels and a node affinity.',
  'not-ours':
    'Nothing: the cloud does not know it. It is not asked again before another volume has its name or this program restarts.',
  nowhere: 'Nothing: the cloud gives no zone or region that is missing.',
};

/** `last`: what the cloud said last, and when; `at` and `now`: monotonic. */
export function factsOfVolume(
  volume: PersistentVolume,
  last: { readonly result: VolumeResult; readonly at: number } | undefined,
  now: number,
): readonly Fact[] {
  const ref = volumeRefOf(volume);
  if (!ref) return [];
  const { driver, handle, source } = ref;
  const kind = driver === undefined ? source : `${source} ${quote(driver)}`;
  const answer = last
    ? { text: answerText(last.result), agoMs: Math.max(0, now - last.at) }
    : { text: 'It has not been looked up in the cloud.' };
  return [{ text: `It is the volume ${quote(handle)} of ${kind}.` }, answer];
}

function answerText(result: VolumeResult): string {
  if (result.kind === 'failed') return `The last look-up failed: ${reasonOf(result.error)}.`;
  if (result.kind === 'unknown') return 'The cloud did not know it.';
  const labels = Object.entries(result.labels).map(([key, value]) => `${key}=${value}`);
  return `The cloud gave the labels ${labels.join(', ') || '(none)'}.`;
}

/** `state`: of what is planned. */
export function factOfVolumePlan(plan: VolumePlan, state: ActionState): Fact {
  switch (plan.kind) {
    case 'nothing':
      return { text: IDLE[plan.reason] };
    case 'differs':
      return { text: `${differencesText(plan.differences)}.` };
    case 'invalid':
      return { text: `${invalidText(plan.labels)}.` };
    case 'add':
      return factOfAction(additionsText(plan.additions), state);
    default:
      return factOfAction('look it up in the cloud', state);
  }
}
