/** The annotations of an object as a provider sees them. */
import { ANNOTATION_LENGTH } from '@outrigger/cloud-provider';

type Annotations = Readonly<Record<string, string>>;

/** Cut, and not left out: one that is too long to be read is not one that is not there. */
export function boundedAnnotations(annotations: Annotations = {}): Annotations {
  const entries = Object.entries(annotations);
  if (entries.every(([, value]) => value.length <= ANNOTATION_LENGTH)) return annotations;
  return Object.fromEntries(entries.map(([name, value]) => [name, value.slice(0, ANNOTATION_LENGTH)]));
}
