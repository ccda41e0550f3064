import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { controlPlaneOrSkip } from './control-plane-or-skip.ts';

/** A machine without the programs, where neither a download nor Go works. */
async function bareMachine(t: TestContext): Promise<NodeJS.ProcessEnv> {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-test-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return { PATH: '', XDG_CACHE_HOME: directory };
}

function spy(): { readonly skipped: (string | undefined)[]; readonly t: Pick<TestContext, 'skip' | 'after'> } {
  const skipped: (string | undefined)[] = [];
  return { skipped, t: { skip: (message) => void skipped.push(message), after: () => {} } };
}

test('a laptop without the programs skips with one line; CI fails', async (t) => {
  const env = await bareMachine(t);
  const { skipped, t: spied } = spy();
  assert.equal(await controlPlaneOrSkip(spied, { env, makers: [] }), undefined);
  assert.equal(skipped.length, 1);
  assert.match(skipped[0] ?? '', /^no etcd v3\.[^\n]*$/);
  await assert.rejects(controlPlaneOrSkip(spied, { env: { ...env, CI: 'true' }, makers: [] }), {
    code: 'control-plane-missing',
  });
});

test('anything else that goes wrong is a failure everywhere', async (t) => {
  const env = { ...(await bareMachine(t)), KUBERNETES: '1.20' };
  const { skipped, t: spied } = spy();
  await assert.rejects(controlPlaneOrSkip(spied, { env, makers: [] }), { name: 'RangeError' });
  assert.deepEqual(skipped, []);
});
