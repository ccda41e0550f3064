import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RefusedCredentials } from './refused-credentials.ts';

const MINUTE = 60_000;

test('what was refused is left alone for five minutes, then ever longer up to an hour, until others are tried', () => {
  const refused = new RefusedCredentials();
  const error = new Error('wrong password');
  const times: number[] = [];
  for (let minute = 0; minute < 400; minute++) {
    if (refused.errorOf('a', minute * MINUTE)) continue;
    times.push(minute);
    refused.note('a', error, minute * MINUTE);
  }
  assert.deepEqual(times, [0, 5, 15, 35, 75, 135, 195, 255, 315, 375]);
  assert.equal(refused.errorOf('a', 380 * MINUTE), error);
  assert.equal(refused.errorOf('b', 380 * MINUTE), undefined);
  refused.note('b', error, 380 * MINUTE);
  assert.equal(refused.errorOf('a', 380 * MINUTE), undefined);
  assert.equal(refused.errorOf('b', 385 * MINUTE), undefined, 'the first time again');
  refused.note('b', undefined, 386 * MINUTE);
  assert.equal(refused.errorOf('b', 386 * MINUTE), undefined);
});
