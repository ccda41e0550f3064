/**
 * Takes secrets out of text. Two nets: values that the program has read and registered, and shapes that are secrets
 * wherever they turn up (JSON web tokens, `Authorization` values, private keys, passwords in URLs).
 */
import { KnownSecrets } from '@outrigger/kube';

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

export class Redactor {
  readonly #secrets = new KnownSecrets(formsOfAll);

  /**
   * From now on this value, as it is, URL-encoded and in base64, is masked; of one of several lines, such as a private key, each
   * line too. Values under 6 characters are not taken. `rotating`: the source of values that replace each other, such as tokens of
   * an hour; of each source only the newest are remembered.
   */
  add(secret: string, options: { readonly rotating?: string | undefined } = {}): void {
    const value = secret.trim();
    if (value.length >= SHORTEST_SECRET) this.#secrets.add(value, options.rotating);
  }

  /** Whether a field of this name is masked whole. */
  hides(field: string): boolean {
    return SECRET_FIELD.test(field);
  }

  redact(text: string): string {
    let clean = this.#secrets.replaceIn(text, MASK);
    if (!HINT.test(clean)) return clean;
    for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  }
}

function formsOfAll(value: string): readonly string[] {
  if (!value.includes('\n')) return formsOf(value);
  // The first and the last line of a PEM block are those of all of them.
  const lines = value.split('\n').map((line) => line.trim());
  const secret = lines.filter((line) => line.length >= SHORTEST_SECRET && !line.startsWith('-----'));
  return [value, ...secret].flatMap(formsOf);
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
