import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { LoadProcess } from './load-process.ts';

test('a load that cannot begin is told of, and leaves no process behind', async () => {
  const load = { kind: 'neutral', seed: 1, options: { kubeconfig: '/does/not/exist' } } as const;
  await assert.rejects(LoadProcess.start(load), /ended by itself: 1$/);
});

test('a load ends with who started it, however that ended', { timeout: 300_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-load-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  t.after(() => silent.close());
  const kubeconfig = join(directory, 'kubeconfig');
  const server = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  writeFileSync(
    kubeconfig,
    JSON.stringify({
      'current-context': 'a',
      contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
      clusters: [{ name: 'a', cluster: { server } }],
      users: [{ name: 'a', user: {} }],
    }),
  );
  const load = JSON.stringify({ kind: 'neutral', seed: 1, options: { kubeconfig } });
  const started = `import { LoadProcess } from './load-process.ts'; await LoadProcess.start(${load});`;
  const parent = spawn(process.execPath, ['--input-type=module', '-e', started], {
    cwd: import.meta.dirname,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  t.after(() => parent.kill('SIGKILL'));
  const [connection] = (await once(silent, 'connection')) as [Socket];
  const closed = once(connection.resume(), 'close');
  parent.kill('SIGKILL');
  await closed;
});
