import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { asError, CloudError, cloudErrorCodes, effectOf, isCloudError } from './index.ts';

test('a cloud error is known by its mark and code, whichever copy of the package made it', () => {
  const own = new CloudError('throttled', 'too many', { retryAfterMs: 5, cause: 'x' });
  const foreign = Object.assign(new Error('by hand'), { [Symbol.for('outrigger.cloud-error')]: true, code: 'quota' });
  assert.deepEqual(
    [isCloudError(own), isCloudError(own, 'throttled'), isCloudError(own, 'quota')],
    [true, true, false],
  );
  assert.ok(isCloudError(foreign, 'quota'));
  assert.equal(own.retryAfterMs, 5);
  for (const other of [
    null,
    'quota',
    new Error('x'),
    { code: 'quota' },
    Object.assign(new Error('x'), { code: 'quota' }),
  ]) {
    assert.equal(isCloudError(other), false);
  }
});

test('an error says whether it had an effect; by its code where it does not say so itself', () => {
  assert.deepEqual(
    [
      effectOf(new CloudError('quota', 'full')),
      effectOf(new CloudError('unavailable', 'no answer')),
      effectOf(new CloudError('unavailable', 'refused before it was sent', { effect: 'none' })),
      effectOf(new CloudError('forbidden', 'the second of two requests', { effect: 'unknown' })),
      effectOf(new Error('socket hang up')),
    ],
    ['none', 'unknown', 'none', 'unknown', 'unknown'],
  );
  // Another copy of the package, without the member or with a code that is newer than this one.
  const foreign = (code: string): Error =>
    Object.assign(new Error('x'), { [Symbol.for('outrigger.cloud-error')]: true, code });
  assert.deepEqual([effectOf(foreign('conflict')), effectOf(foreign('later'))], ['none', 'unknown']);
});

test('the reference page says every code as it is', async () => {
  const page = await readFile(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const expected = Object.entries(cloudErrorCodes).map(
    ([code, { effect, meaning, host }]) => `| \`${code}\` | ${meaning} | ${host} | \`${effect}\` |`,
  );
  assert.deepEqual(rows, expected);
});

test('what is thrown is an error, whatever it was', () => {
  const error = new RangeError('as it is');
  assert.equal(asError(error), error);
  assert.equal(asError('a text').message, 'a text');
  assert.equal(asError(undefined).message, 'undefined');
});
