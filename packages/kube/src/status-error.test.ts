import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as errors from './status-error.ts';
import { StatusError } from './status-error.ts';

const table: readonly [(error: unknown) => boolean, number, string][] = [
  [errors.isNotFound, 404, 'NotFound'],
  [errors.isConflict, 409, 'Conflict'],
  [errors.isAlreadyExists, 409, 'AlreadyExists'],
  [errors.isExpired, 410, 'Expired'],
  [errors.isExpired, 410, 'Gone'],
  [errors.isTooManyRequests, 429, 'TooManyRequests'],
  [errors.isUnauthorized, 401, 'Unauthorized'],
  [errors.isForbidden, 403, 'Forbidden'],
  [errors.isInvalid, 422, 'Invalid'],
  [errors.isBadRequest, 400, 'BadRequest'],
];

test('each reason is known by its own predicate and by no other', () => {
  for (const [predicate, code, reason] of table) {
    const error = new StatusError('GET /x', code, { code, reason, message: 'no' });
    for (const [other] of table) {
      assert.equal(other(error), other === predicate, `${reason} asked ${other.name}`);
    }
  }
});

test('a name that is taken is no conflict, although both are 409', () => {
  const taken = new StatusError('POST /x', 409, { reason: 'AlreadyExists' });
  assert.ok(errors.isAlreadyExists(taken));
  assert.ok(!errors.isConflict(taken));
});

test('without a reason the code says it', () => {
  assert.ok(errors.isNotFound(new StatusError('GET /x', 404, {})));
  assert.equal(new StatusError('GET /x', 418, {}).reason, 'Unknown');
});

test('an error of another copy of the package is recognised', () => {
  const foreign = Object.defineProperty(
    Object.assign(new Error('gone'), { code: 404, reason: 'NotFound', details: {} }),
    Symbol.for('outrigger.kube.StatusError'),
    { value: true },
  );
  assert.ok(errors.isNotFound(foreign));
  assert.ok(!errors.isNotFound(Object.assign(new Error('x'), { code: 404, reason: 'NotFound' })));
  for (const other of [undefined, null, 'x', 4]) assert.ok(!errors.isStatusError(other));
});

test('the message says what was asked, and what the answer was', () => {
  const error = new StatusError('GET /api/v1/nodes/a', 404, { reason: 'NotFound', message: 'nodes "a" not found' });
  assert.equal(error.message, 'GET /api/v1/nodes/a: nodes "a" not found (404 NotFound)');
});

test('the wait comes from the header before the details', () => {
  const details = { retryAfterSeconds: 7 };
  assert.equal(new StatusError('GET /x', 429, { details }).retryAfterMs, 7000);
  assert.equal(new StatusError('GET /x', 429, { details }, { retryAfterMs: 1000 }).retryAfterMs, 1000);
  assert.equal(new StatusError('GET /x', 429, {}).retryAfterMs, undefined);
});

test('a resourceVersion of the future is known by its cause, and on old servers by the message', () => {
  const causes = [{ reason: 'ResourceVersionTooLarge' }];
  assert.ok(errors.isResourceVersionTooLarge(new StatusError('w', 504, { reason: 'Timeout', details: { causes } })));
  assert.ok(
    errors.isResourceVersionTooLarge(
      new StatusError('w', 500, { message: 'Too large resource version: 9, current: 1' }),
    ),
  );
  assert.ok(!errors.isResourceVersionTooLarge(new StatusError('w', 504, { reason: 'Timeout' })));
  assert.ok(!errors.isResourceVersionTooLarge(new Error('Too large resource version')));
});
