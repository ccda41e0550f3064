/**
 * Takes secrets out of text. Two nets: values that the program has read and registered, and shapes that are secrets
 * wherever they turn up (JSON web tokens, `Authorization` values, private keys, passwords in URLs). Whoever may write a Service
 * writes text that comes here: each step takes time as the text has length, and no more (docs/adr/0026).
 */
import { KnownSecrets } from '@outrigger/kube';

const MASK = '[redacted]';
/** A shorter registered value is masked only where it is a word of its own: it would take innocent words out of every line. */
const SHORTEST_SECRET = 6;
/** Still shorter ones are not masked at all. */
const SHORTEST_WORD = 3;

/**
 * No two tries of one expression may read the same characters: what may begin a match is not among those that its repeated
 * classes take, or is behind a fixed text which they do not take.
 */
const SHAPES: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/gu, MASK],
  [/\b(Bearer|Basic|Negotiate)\s+[\w.~+/=-]{6,}/giu, `$1 ${MASK}`],
  [/(:\/\/[^\s/:@"]*:)[^\s/"]+@/gu, `$1${MASK}@`],
  // In quotes, with those that have as many backslashes before them behind it: spaces are a part of it.
  [shapeOf(`(\\\\{0,4})(["'])\\s*:\\s*\\2\\3)(?:(?!\\2\\3)(?:\\\\[\\s\\S]|[\\s\\S])){4,}`), `$1${MASK}`],
  [shapeOf(`\\\\{0,4}["']?\\s*[=:]\\s*\\\\{0,4}["']?)(?!\\[redacted\\])[^\\s"',;&}\\]]{4,}`), `$1${MASK}`],
];
/** Only text with one of these in it is looked at closely: most log lines have none. */
const HINT = /eyJ|PRIVATE KEY|bearer|basic|negotiate|:\/\/|pass|secret|token|key/iu;

/** Where a JSON web token may stand. */
const TOKEN_CHARACTERS = /[\w.-]+/gu;
const LEAST_HEADER = 11;

/** Fields whose value is never printed, whatever it is. */
const SECRET_FIELD = /passw|secret|token$|^token|authorization|credential|private.?key|api.?key|cookie/iu;

export class Redactor {
  readonly #secrets = new KnownSecrets();

  /**
   * From now on this value is masked, in every form that `KnownSecrets` knows; of one of several lines, such as a private key, each
   * line too. A value of 3 to 5 characters is masked where no letter or digit is beside it, and a shorter one nowhere. `rotating`:
   * the source of values that replace each other, such as tokens of an hour; of each source only the newest are remembered.
   */
  add(secret: string, options: { readonly rotating?: string | undefined } = {}): void {
    const value = secret.trim();
    if (value.length < SHORTEST_WORD) return;
    this.#secrets.add(value, { source: options.rotating, wholeWord: value.length < SHORTEST_SECRET });
  }

  /** Whether a field of this name is masked whole. */
  hides(field: string): boolean {
    return SECRET_FIELD.test(field);
  }

  redact(text: string): string {
    let clean = this.#secrets.replaceIn(text, MASK);
    if (!HINT.test(clean)) return clean;
    if (clean.includes('eyJ')) clean = clean.replace(TOKEN_CHARACTERS, maskTokens);
    for (const [shape, replacement] of SHAPES) clean = clean.replace(shape, replacement);
    return clean;
  }
}

/** `eyJ….….…`, with or without the last part, in text of a token's characters only. */
function maskTokens(text: string): string {
  if (!text.includes('eyJ') || !text.includes('.')) return text;
  const parts = text.split('.');
  const clean: string[] = [];
  for (let at = 0; at < parts.length; at++) {
    const part = parts[at] ?? '';
    // Behind a letter it may be the middle of a word, unless claims follow.
    const begin = parts[at + 1]?.startsWith('eyJ') ? part.indexOf('eyJ') : part.search(/(?<![A-Za-z\d])eyJ/u);
    const isToken = begin >= 0 && part.length - begin >= LEAST_HEADER && Boolean(parts[at + 1]);
    if (!isToken) {
      clean.push(part);
      continue;
    }
    clean.push(part.slice(0, begin) + MASK);
    // A word before a token may look like a header.
    at += parts[at + 2]?.startsWith('eyJ') ? 3 : 2;
  }
  return clean.join('.');
}

/** After the name of a secret. */
function shapeOf(rest: string): RegExp {
  return new RegExp(
    `((?:password|passwd|adminpass|secret(?:[_-]?access)?(?:[_-]?key)?|token|api[_-]?key)${rest}`,
    'giu',
  );
}

/** What stands in a log instead of a value that is masked whole. */
export const maskedValue: string = MASK;
