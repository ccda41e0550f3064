import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { CloudError, cloudErrorCodes, isCloudError } from './index.ts';

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

test('the reference page says every code as it is', async () => {
  const page = await readFile(new URL('../../../docs/reference/errors.md', import.meta.url), 'utf8');
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  const expected = Object.entries(cloudErrorCodes).map(
    ([code, { meaning, host }]) => `| \`${code}\` | ${meaning} | ${host} |`,
  );
  assert.deepEqual(rows, expected);
});
