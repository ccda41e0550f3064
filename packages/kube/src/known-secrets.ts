/**
 * Secrets that the program has been told of, taken out of every text that is shown. Here, at the lowest floor that has secrets: what
 * the cluster's and what a cloud's credentials give is kept in one way.
 */
import { decodedTexts } from './internal/decoded-text.ts';
import { FormFinder } from './internal/form-finder.ts';
import { formsOfSecret, type SecretForm } from './internal/secret-forms.ts';

/** How many of the secrets that one source gives one after the other are remembered: an old token may still be in a late message. */
const NEWEST = 32;

export interface KnownSecretOptions {
  /**
   * What gives secrets that replace each other, such as tokens of an hour. Of each source the newest 32 are remembered, however
   * many another one gives. Without a source the secret is remembered for good.
   */
  readonly source?: string | undefined;
  /** Taken out only where no letter or digit is beside it. Default: wherever it stands. */
  readonly wholeWord?: boolean;
}

/**
 * Each secret is found as it is; with JSON's escapes, percent encodings and HTML entities, one within the other too; and, of 6
 * bytes and more, in hexadecimal digits and in the base64 of any text that holds it. Of a secret of several lines, such as a
 * private key, each line is one. Of one that was cut before it came here the beginning is found: 8 bytes before `…` or `...`, and 16
 * at the end of a text. The time grows as the text does, and hardly with the number of secrets.
 */
export class KnownSecrets {
  readonly #kept = new Map<string, readonly SecretForm[]>();
  /** By source, each the newest last. */
  readonly #rotating = new Map<string, Map<string, readonly SecretForm[]>>();
  readonly #finder = new FormFinder();

  /** Whether there is nothing to take out of anything. */
  get isEmpty(): boolean {
    return this.#kept.size === 0 && this.#rotating.size === 0;
  }

  /** From now on the secret is taken out of texts. An empty one is none. */
  add(secret: string, { source, wholeWord = false }: KnownSecretOptions = {}): void {
    if (secret === '' || this.#kept.has(secret)) return;
    const ring = source === undefined ? this.#kept : (this.#rotating.get(source) ?? new Map());
    if (source !== undefined) this.#rotating.set(source, ring);
    const known = ring.get(secret);
    const forms = known ?? formsOfSecret(secret, wholeWord);
    // Put last again: it is in use.
    ring.delete(secret);
    ring.set(secret, forms);
    if (known) return;
    for (const form of forms) this.#finder.add(form);
    if (source === undefined) return;
    for (const [oldest, old] of ring) {
      if (ring.size <= NEWEST) break;
      ring.delete(oldest);
      for (const form of old) this.#finder.delete(form);
    }
  }

  /** The text with `instead` for each secret; for two that overlap, once. */
  replaceIn(text: string, instead: string): string {
    if (this.isEmpty) return text;
    const found: (readonly [start: number, end: number])[] = [];
    let source: Buffer | undefined;
    for (const { bytes, places } of decodedTexts(text)) {
      source ??= bytes;
      this.#finder.find(bytes, (start, end) => {
        found.push(places ? [places.starts[start] ?? 0, places.ends[end - 1] ?? 0] : [start, end]);
      });
    }
    if (found.length === 0 || !source) return text;
    const parts: string[] = [];
    let at = 0;
    for (const [start, end] of united(found)) {
      parts.push(source.toString('utf8', at, start), instead);
      at = end;
    }
    parts.push(source.toString('utf8', at));
    return parts.join('');
  }
}

/** In order; those that overlap as one, so that a secret which contains another leaves no rest behind. */
function united(ranges: (readonly [number, number])[]): readonly (readonly [number, number])[] {
  const all: [number, number][] = [];
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    const last = all.at(-1);
    if (last && start < last[1]) last[1] = Math.max(last[1], end);
    else all.push([start, end]);
  }
  return all;
}
