/**
 * Regular expressions in Go's syntax that whoever may write a Service writes: none takes more than its share of time or memory, to be
 * compiled or to be matched (docs/adr/0017, docs/adr/0026).
 */
import { asError, CloudError, NAME_LENGTH } from '@outrigger/cloud-provider';
import { RE2JS } from 're2js';

/**
 * Of the text, of what stands between `|` or commas, of all repetitions multiplied, of the text with them written out, of `\p` and `\P`, whose
 * tables have up to 1,500 ranges, and of the compiled program.
 */
const MOST_CHARACTERS = NAME_LENGTH;
const MOST_ALTERNATIVES = 32;
const MOST_REPETITIONS = 100;
const MOST_WRITTEN_OUT = 5_000;
const MOST_UNICODE_CLASSES = 4;
const MOST_INSTRUCTIONS = 512;
/** Names of OpenStack have no more characters. */
const LONGEST_NAME = NAME_LENGTH;
/** Patterns that are remembered, the newest: each Service is planned many times. */
const REMEMBERED = 256;

/** In a class. Each `[` may begin one, also in `\Q…\E`: at most the square of the text is read. */
const RANGE_BEYOND_ASCII = /\[\^?\]?(?:\\[^]|\[:\^?\w+:\]|[^\]\\])*?-(?:[^\0-\x7f]|\\[x0-7])/;

/** Its text is not repeated. */
export class PatternTooLarge extends CloudError {}

const compiled = new Map<string, RE2JS | CloudError>();

/**
 * What the pattern matches first in a name, or `undefined`. `expressionOf`: from the pattern to its expression; default: it is one.
 * Throws `invalid` with what is wrong, and with no text of a pattern that is too large.
 */
export function compilePattern(
  pattern: string,
  expressionOf: (pattern: string) => string = (text) => text,
): (name: string) => string | undefined {
  limit(pattern.length, MOST_CHARACTERS, 'characters');
  const expression = expressionOf(pattern);
  const known = compiled.get(expression) ?? compile(expression);
  // Put last again: it is in use.
  compiled.delete(expression);
  compiled.set(expression, known);
  const [oldest] = compiled.keys();
  if (compiled.size > REMEMBERED && oldest !== undefined) compiled.delete(oldest);
  if (known instanceof CloudError) throw known;
  return (name) => {
    if (name.length > LONGEST_NAME) return undefined;
    const matcher = known.matcher(name);
    return matcher.find() ? (matcher.group() ?? undefined) : undefined;
  };
}

/** Or why not: that is remembered too. */
function compile(expression: string): RE2JS | CloudError {
  try {
    checkSize(expression);
    const program = RE2JS.compile(expression);
    limit(program.programSize(), MOST_INSTRUCTIONS, 'instructions when it is compiled');
    return program;
  } catch (error) {
    return error instanceof CloudError ? error : new CloudError('invalid', asError(error).message);
  }
}

/** By the text alone: what RE2JS needs to read it is bounded before it does. */
function checkSize(expression: string): void {
  limit(expression.split('|').length, MOST_ALTERNATIVES, 'alternatives');
  // Each character may be repeated by all of them, one within the other.
  let repetitions = 1;
  for (const [, least = '', most = ''] of expression.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    repetitions *= Math.max(1, Number(most === '' ? least : most));
  }
  limit(repetitions, MOST_REPETITIONS, 'repetitions');
  if (repetitions > 1) {
    limit(repetitions * expression.length, MOST_WRITTEN_OUT, 'characters with its repetitions written out');
  }
  limit(expression.split(/\\p/i).length - 1, MOST_UNICODE_CLASSES, 'classes of Unicode (\\p, \\P)');
  // RE2JS folds each character of a range by itself.
  if (/\(\?[imsU-]*i/.test(expression) && RANGE_BEYOND_ASCII.test(expression)) {
    const text = 'the pattern has (?i) and a range that ends outside ASCII, such as a-ö; remove one of the two';
    throw new CloudError('invalid', text);
  }
}

function limit(found: number, most: number, what: string): void {
  if (found > most) throw new PatternTooLarge('invalid', `the pattern has more than ${most} ${what}; simplify it`);
}
