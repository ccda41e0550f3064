import { strict as assert } from 'node:assert';
import { test } from 'node:test';
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

test('fields are cleaned at any depth, and a structure that contains itself is cut off', () => {
  const deep: Record<string, unknown> = { text: 's3cret' };
  deep.self = deep;
  const shown = JSON.stringify(secrets('s3cret').redactFields({ deep, list: ['s3cret', 1, null] }));
  assert.ok(!shown.includes('s3cret'));
  const fields = { a: 's3cret' };
  assert.equal(secrets().redactFields(fields), fields);
});
