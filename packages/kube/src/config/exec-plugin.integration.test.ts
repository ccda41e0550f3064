import assert from 'node:assert/strict';
import { test } from 'node:test';
import { spawnExecPlugin } from './exec-plugin.ts';

test('a real child process is run, and one that prints for ever is ended', async () => {
  const base = { args: [], env: process.env, interactive: false, signal: new AbortController().signal };
  const good = await spawnExecPlugin({
    ...base,
    command: process.execPath,
    args: ['-e', 'console.log(process.env.X)'],
    env: { X: 'y' },
  });
  assert.deepEqual(good, { exitCode: 0, stdout: 'y\n' });
  const endless = 'setInterval(() => process.stdout.write("x".repeat(65536)), 0)';
  const killed = await spawnExecPlugin({ ...base, command: process.execPath, args: ['-e', endless] });
  assert.equal(killed.exitCode, null);
  await assert.rejects(spawnExecPlugin({ ...base, command: '/nonexistent/plugin' }), { code: 'ENOENT' });
});
