/**
 * How long what others write may be. Whoever may write one Service may write 256 KiB into its annotations, and a kubelet into its
 * Node's: the host refuses what is longer before a provider sees it (docs/adr/0026).
 */
import { CloudError } from './errors.ts';

/** Of a text that names one thing, in characters: an annotation's value, unless it says otherwise; an address, a host name. */
export const NAME_LENGTH: number = 255;
/** Of a node's provider ID: those of Azure's scale sets have over 255 characters. */
export const PROVIDER_ID_LENGTH: number = 1_024;
/** Of any annotation that a provider sees: a longer value is cut to it. */
export const ANNOTATION_LENGTH: number = 4_096;

/** Throws `invalid` for a text of more characters, and quotes nothing of it. `where`: `annotation example.com/class`. */
export function refuseLonger(where: string, text: string, limit: number = NAME_LENGTH): void {
  if (text.length <= limit) return;
  throw new CloudError('invalid', `${where} is too long: shorten it to at most ${limit} characters`);
}

/** Of a text that is longer the first characters, and `…`: by the mark, what redacts knows that a secret may be cut. */
export function cutText(text: string, characters: number): string {
  if (text.length <= characters) return text;
  // Without the first half of a pair.
  return `${text.slice(0, characters).replace(/[\ud800-\udbff]$/u, '')}…`;
}

/** The text in quotes, for a message; of one that is longer than a name the beginning, with its length. */
export function quote(text: string): string {
  if (text.length <= NAME_LENGTH) return JSON.stringify(text);
  return `${JSON.stringify(cutText(text, NAME_LENGTH))} (${text.length} characters)`;
}
