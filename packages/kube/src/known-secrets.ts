/**
 * Secrets that the program has been told of, taken out of every text that is shown. Here, at the lowest floor that has secrets: what
 * the cluster's and what a cloud's credentials give is kept in one way.
 */

/** How many of the secrets that one source gives one after the other are remembered: an old token may still be in a late message. */
const NEWEST = 32;

export class KnownSecrets {
  readonly #formsOf: (secret: string) => readonly string[];
  readonly #kept = new Set<string>();
  /** By source, each the newest last. */
  readonly #rotating = new Map<string, Set<string>>();
  /** All forms of all secrets, the longest first, so that a secret which contains another leaves no rest behind. */
  #forms: readonly string[] = [];

  /** `formsOf`: as what a secret may stand in a text. Default: as it is. */
  constructor(formsOf: (secret: string) => readonly string[] = (secret) => [secret]) {
    this.#formsOf = formsOf;
  }

  /** Whether there is nothing to take out of anything. */
  get isEmpty(): boolean {
    return this.#forms.length === 0;
  }

  /**
   * `source`: what gives secrets that replace each other, such as tokens of an hour. Of each source the newest 32 are remembered,
   * however many another one gives. Without a source the secret is remembered for good.
   */
  add(secret: string, source?: string): void {
    if (this.#kept.has(secret)) return;
    if (source === undefined) {
      this.#kept.add(secret);
    } else {
      const ring = this.#rotating.get(source) ?? new Set();
      this.#rotating.set(source, ring);
      // Put last again: it is in use.
      const isKnown = ring.delete(secret);
      ring.add(secret);
      if (isKnown) return;
      for (const oldest of ring) {
        if (ring.size <= NEWEST) break;
        ring.delete(oldest);
      }
    }
    const all = [...this.#kept, ...[...this.#rotating.values()].flatMap((ring) => [...ring])];
    const forms = new Set(all.flatMap(this.#formsOf));
    forms.delete('');
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
  }

  /** The text with `instead` for each secret. */
  replaceIn(text: string, instead: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, () => instead);
    return clean;
  }
}
