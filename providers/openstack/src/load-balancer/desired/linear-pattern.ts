/**
 * Regular expressions in Go's syntax that whoever may write a Service writes: none takes more than its share of time or memory, to be
 * compiled or to be matched (docs/adr/0017, docs/adr/0026).
 */
import { CloudError, NAME_LENGTH } from '@outrigger/cloud-provider';
import { RE2JS } from 're2js';

/** Of the text, of what stands between `|` or commas, of all repetitions multiplied, and of the compiled program. */
const MOST_CHARACTERS = NAME_LENGTH;
const MOST_ALTERNATIVES = 32;
const MOST_REPETITIONS = 100;
const MOST_INSTRUCTIONS = 512;
/** Names of OpenStack have no more characters. */
const LONGEST_NAME = NAME_LENGTH;
/** Patterns that are remembered, the newest: each Service is planned many times. */
const REMEMBERED = 256;

const compiled = new Map<string, RE2JS>();

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
  return (name) => {
    if (name.length > LONGEST_NAME) return undefined;
    const matcher = known.matcher(name);
    return matcher.find() ? (matcher.group() ?? undefined) : undefined;
  };
}

function compile(expression: string): RE2JS {
  limit(expression.split('|').length, MOST_ALTERNATIVES, 'alternatives');
  // Each character may be repeated by all of them, one within the other.
  let repetitions = 1;
  for (const [, least = '', most = ''] of expression.matchAll(/\{(\d+)(?:,(\d*))?\}/g)) {
    repetitions *= Math.max(1, Number(most === '' ? least : most));
  }
  limit(repetitions, MOST_REPETITIONS, 'repetitions');
  let program: RE2JS;
  try {
    program = RE2JS.compile(expression);
  } catch (error) {
    throw new CloudError('invalid', error instanceof Error ? error.message : String(error));
  }
  limit(program.programSize(), MOST_INSTRUCTIONS, 'instructions when it is compiled');
  return program;
}

function limit(found: number, most: number, what: string): void {
  if (found > most) throw new CloudError('invalid', `the pattern has more than ${most} ${what}; simplify it`);
}
