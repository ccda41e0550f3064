import { ANNOTATION_LENGTH } from '@outrigger/cloud-provider';

/** Of one thing in a cloud: of its labels, of its addresses. Clouds allow 128 tags at most. */
export const MOST_ENTRIES: number = 1_000;

/** Labels, annotations, tags: an object whose values are text, within the bounds. A provider may be written in JavaScript. */
export function isTextByName(value: unknown): value is Readonly<Record<string, string>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const all = Object.entries(value);
  return all.length <= MOST_ENTRIES && all.flat().every(isShort);
}

const isShort = (text: unknown): boolean => typeof text === 'string' && text.length <= ANNOTATION_LENGTH;
