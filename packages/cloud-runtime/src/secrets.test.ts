import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Secrets } from './secrets.ts';

function secrets(...values: string[]): Secrets {
  const made = new Secrets();
  for (const value of values) made.add(value);
  return made;
}

test('an error is cleaned where others look: message, stack, causes, gathered errors, text hung onto it', () => {
  const inner = Object.assign(new Error('key s3cret'), { url: 'https://cloud/?token=s3cret' });
  const all = new AggregateError([inner], 's3cret');
  const error = new Error('outer s3cret', { cause: all });
  secrets('s3cret').redactError(error);
  const texts = [error.message, error.stack, all.message, inner.message, inner.stack, inner.url];
  assert.ok(texts.every((text) => text !== undefined && !text.includes('s3cret') && text.includes('[redacted]')));
});

test('an error whose message has only a getter is cleaned too, and one that gathers itself ends', () => {
  const aborted = new DOMException('gone with s3cret', 'AbortError');
  secrets('s3cret').redactError(aborted);
  assert.equal(aborted.message, 'gone with [redacted]');
  const round = new AggregateError([], 's3cret');
  round.errors.push(round);
  round.cause = round;
  secrets('s3cret').redactError(round);
  assert.equal(round.message, '[redacted]');
});

test('of two secrets the longer goes first; an empty one is none', () => {
  assert.equal(secrets('', 'abc', 'abcdef').redact('x abcdef y abc'), 'x [redacted] y [redacted]');
});

test('of secrets that replace each other the newest are remembered, so that a program of years does not search for each of them', () => {
  const kept = secrets('password');
  for (let hour = 0; hour < 10_000; hour++) kept.add(`token-${hour};`, { rotating: true });
  assert.equal(kept.redact('password, token-9999; token-9990;'), '[redacted], [redacted] [redacted]');
  assert.equal(kept.redact('token-1;'), 'token-1;');
});

test('fields are cleaned at any depth, and a structure that contains itself is cut off', () => {
  const deep: Record<string, unknown> = { text: 's3cret' };
  deep.self = deep;
  const shown = JSON.stringify(secrets('s3cret').redactFields({ deep, list: ['s3cret', 1, null] }));
  assert.ok(!shown.includes('s3cret'));
  const fields = { a: 's3cret' };
  assert.equal(secrets().redactFields(fields), fields);
});

test('property: whatever the secrets are and wherever they stand, nothing that is shown has one of them', () => {
  // Letters that `[redacted]` does not have: what stands in its place spells no secret.
  const secret = fc.string({
    unit: fc.constantFrom('x', 'y', 'z', '0', '$', '&', '\\', '.'),
    minLength: 1,
    maxLength: 6,
  });
  const texts = fc.array(fc.oneof(fc.string(), secret), { maxLength: 5 });
  fc.assert(
    fc.property(
      fc.array(secret, { minLength: 1, maxLength: 4 }),
      texts,
      fc.nat({ max: 6 }),
      (values, around, depth) => {
        const text = [...around, ...values].join('') + values.join(around.join(''));
        let error = Object.assign(new Error(text), { url: text, stack: text });
        let fields: Record<string, unknown> = { text };
        for (let level = 0; level < depth; level++) {
          error = Object.assign(new AggregateError([error], text, { cause: error }), { url: text, stack: text });
          fields = { inner: level % 2 === 0 ? fields : [fields], text };
        }
        const hidden = secrets(...values);
        hidden.redactError(error);
        const shown = [hidden.redact(text), ...stringsOf(hidden.redactFields({ fields, failed: error }))];
        for (let one: unknown = error; one instanceof Error; one = one.cause) {
          shown.push(one.message, one.stack ?? '', (one as unknown as { readonly url: string }).url);
        }
        for (const value of values) assert.ok(!shown.some((one) => one.includes(value)));
      },
    ),
    { numRuns: 1_000 },
  );
});

function stringsOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || value instanceof Error) return [];
  return Object.values(value).flatMap((item) => stringsOf(item));
}
