/**
 * Hostile text of any size: what a tenant or a node could write, grown from a recipe. Small enough to keep in the corpus, and at
 * 256 KiB as large as Kubernetes lets the annotations of one object be in all.
 */
import * as fc from 'fast-check';
import type { Recipe } from './grow.ts';

/** Words that some parser gives a meaning to. */
const WORDS = [
  '-eyJ',
  'eyJhbGciOi.',
  '://',
  'a://b:c@',
  'Bearer ',
  'password=',
  'token": "',
  '-----BEGIN PRIVATE KEY-----',
  '-----END ',
  '~',
  '!',
  '&',
  '{*,',
  '{',
  '}',
  '[^\\pL]',
  '(?:a*)*',
  '(a|',
  '{1000}',
  '(',
  ')',
  '*',
  'a|',
  '(?i)',
  '10.0.0.1',
  '10.0.0.{n}/24,',
  '::',
  'fd00:',
  '0',
  ',',
  ';',
  '=',
  '/',
  '.',
  '-',
  '_',
  ' ',
  '\t',
  '\n',
  'a',
  'aB9',
  'k{n}=v{n},',
  '"',
  '\\"',
  '\\u0041',
  '\\\\',
  '%25',
  '%2f',
  '&amp;',
  '&#x26;',
  '<',
  '<style',
  '<title>',
  '<Assertion ',
  '&lt;',
  '>',
  '[',
  ']',
  '[a{n}]\n',
  'x=y\n',
  '#',
  '- ',
  'k{n}: ',
  '&a ',
  '*a ',
  'ä',
  '\u{1f600}',
  '\ud800',
  '\u2028',
  'openstack:///',
  'kind/id ',
  '__proto__',
  '1e9',
  '1h',
] as const;

const word: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  { weight: 1, arbitrary: fc.string({ minLength: 1, maxLength: 3, unit: 'binary' }) },
);
const words = (constraints: fc.ArrayConstraints): fc.Arbitrary<string> =>
  fc.array(word, constraints).map((list) => list.join(''));

/** Each word by itself, again and again: what most parsers that backtrack fall over. */
const plainRecipes: readonly Recipe[] = WORDS.map((unit) => ({ prefix: '', unit, suffix: '' }));

export const recipes: fc.Arbitrary<Recipe> = fc.record({
  prefix: words({ maxLength: 2 }),
  unit: words({ minLength: 1, maxLength: 3 }),
  suffix: words({ maxLength: 1 }),
});

/** Of a round of `make fuzz`: in turn each word by itself, while there are any, and one that is drawn. */
export function recipeOf(round: number, seed: number): Recipe | undefined {
  const plain = round % 2 === 0 ? plainRecipes[round / 2] : undefined;
  return plain ?? fc.sample(recipes, { seed: seed + round, numRuns: 1 })[0];
}
