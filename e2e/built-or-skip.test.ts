import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtOrSkip } from './built-or-skip.ts';
import { setEnv } from './set-env.ts';

async function skipsOf(build: () => string | Promise<string>): Promise<readonly (string | undefined)[]> {
  const said: (string | undefined)[] = [];
  const path = await builtOrSkip({ skip: (message) => void said.push(message) }, 'the manager of upstream', build);
  return [path, ...said];
}

const missing = (): Promise<string> => Promise.reject(Object.assign(new Error('spawn go ENOENT'), { code: 'ENOENT' }));

test('a program that is there is used', async () => {
  assert.deepEqual(await skipsOf(() => '/cache/program'), ['/cache/program']);
});

test('without Go a test is skipped on a laptop, and fails in CI', async (t) => {
  setEnv(t, { CI: 'false' });
  assert.deepEqual(await skipsOf(missing), [undefined, 'there is no Go to build the manager of upstream with']);
  setEnv(t, { CI: 'true' });
  await assert.rejects(skipsOf(missing), { code: 'ENOENT' });
});

test('a build that fails fails the test', async () => {
  await assert.rejects(
    skipsOf(() => Promise.reject(new Error('exit 1'))),
    { message: 'exit 1' },
  );
});
