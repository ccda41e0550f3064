/**
 * Takes secrets out of text. Two nets: values that the program has read and registered, and shapes that are secrets
 * wherever they turn up (JSON web tokens, `Authorization` values, private keys, passwords in URLs).
 */

const MASK = '[redacted]';
/** A shorter registered value would take innocent words out of every line. */
const SHORTEST_SECRET = 6;

const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu, MASK],
  [/\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/gu, MASK],
  [/\b(Bearer|Basic|Negotiate)\s+[\w.~+/=-]{6,}/giu, `$1 ${MASK}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@"]*:)[^\s/@"]+@/giu, `$1${MASK}@`],
  [/((?:password|passwd|secret|token|api[_-]?key)["']?\s*[=:]\s*["']?)[^\s"',;&}\]]{4,}/giu, `$1${MASK}`],
];
/** Only text with one of these in it is looked at closely: most log lines have none. */
const HINT = /eyJ|PRIVATE KEY|bearer|basic|negotiate|:\/\/|passw|secret|token|key/iu;

/** Fields whose value is never printed, whatever it is. */
const SECRET_FIELD = /passw|secret|token$|^token|authorization|credential|private.?key|api.?key|cookie/iu;

/** How many of the values that replace each other are remembered: an old token may still be in a late message. */
const ROTATING_KEPT = 32;

export class Redactor {
  readonly #kept = new Set<string>();
  readonly #rotating = new Set<string>();
  /** All forms of all values, the longest first, so that a value which contains another leaves no rest behind. */
  #forms: readonly string[] = [];

  /**
   * From now on this value, as it is, URL-encoded and in base64, is masked. Values under 6 characters are not taken. Of
   * those that are `rotating`, such as tokens of an hour, only the newest are remembered.
   */
  add(secret: string, options: { readonly rotating?: boolean } = {}): void {
    const value = secret.trim();
    if (value.length < SHORTEST_SECRET || this.#kept.has(value)) return;
    if (options.rotating) {
      // Put last again: it is in use.
      this.#rotating.delete(value);
      this.#rotating.add(value);
      for (const oldest of this.#rotating) {
        if (this.#rotating.size <= ROTATING_KEPT) break;
        this.#rotating.delete(oldest);
      }
    } else {
      this.#kept.add(value);
    }
    const forms = new Set([...this.#kept, ...this.#rotating].flatMap(formsOf));
    this.#forms = [...forms].toSorted((a, b) => b.length - a.length);
  }

  /** Whether a field of this name is masked whole. */
  hides(field: string): boolean {
    return SECRET_FIELD.test(field);
  }

  redact(text: string): string {
    let clean = text;
    for (const form of this.#forms) if (clean.includes(form)) clean = clean.replaceAll(form, MASK);
    if (!HINT.test(clean)) return clean;
    for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  }
}

function formsOf(value: string): readonly string[] {
  return [
    value,
    encodeURIComponent(value),
    Buffer.from(value).toString('base64').replace(/=+$/u, ''),
    JSON.stringify(value).slice(1, -1),
  ];
}

/** What stands in a log instead of a value that is masked whole. */
export const maskedValue: string = MASK;
