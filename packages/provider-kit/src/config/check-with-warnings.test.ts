import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { checkWithWarnings } from './check-with-warnings.ts';

test('a refusal says what was warned of before it; other errors stay as they are, and warnings alone refuse nothing', async () => {
  const refused = new CloudError('configuration', 'token is needed');
  await assert.rejects(
    checkWithWarnings((warn) => {
      warn('tokn: there is no such key');
      return Promise.reject(refused);
    }),
    { code: 'configuration', message: 'token is needed; tokn: there is no such key', cause: refused },
  );
  await assert.rejects(
    checkWithWarnings(() => Promise.reject(refused)),
    (error) => error === refused,
  );
  const broken = new TypeError('broken');
  await assert.rejects(
    checkWithWarnings((warn) => {
      warn('a');
      return Promise.reject(broken);
    }),
    (error) => error === broken,
  );
  await checkWithWarnings((warn) => Promise.resolve(warn('a')));
});
