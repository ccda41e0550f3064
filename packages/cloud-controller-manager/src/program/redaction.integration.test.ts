import assert from 'node:assert/strict';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { CloudProvider } from '@outrigger/cloud-provider';
import { Bench, greenCloud, page, until } from './program-bench.suite.ts';

// Opaque: of no shape that could be told from other text.
const TOKEN = 'wk5gyv0sdfl83nqz';
const CLOUD_SECRET = 'zqx1vjkwhb4mpl7r';

/** A cloud whose every failure quotes its password, and the address with the password in it. */
function leakyCloud(): CloudProvider {
  return {
    name: 'green',
    open: (host) => {
      const password = /password=(\S+)/u.exec(host.config?.text ?? '')?.[1] ?? '';
      host.redact(password);
      host.logger.info('connected as me', { url: `https://me:${password}@cloud/`, note: `with ${password}` });
      const refuse = (): Promise<never> =>
        Promise.reject(
          new Error(`401 for https://cloud/v1?auth=${encodeURIComponent(password)}`, {
            cause: new Error(`sent ${Buffer.from(password).toString('base64')} and ${password}`),
          }),
        );
      return Promise.resolve({ instances: { batchSize: 10, lookUp: refuse, read: refuse } });
    },
    watchedFiles: () => ['clouds.yaml'],
    close: () => Promise.reject(new Error(`cannot log ${CLOUD_SECRET} out`)),
  };
}

test('no secret of kubeconfig or cloud config reaches the log, an Event or a page, at -v=8', async () => {
  await using bench = await Bench.start(TOKEN);
  bench.addNode('node-1');
  const cloudConfig = join(bench.directory, 'cloud.conf');
  await writeFile(cloudConfig, `password=${CLOUD_SECRET}\n`);
  const watched = join(bench.directory, 'clouds.yaml');
  await writeFile(watched, `password: ${CLOUD_SECRET}\n`);
  for (const file of [cloudConfig, watched]) await chmod(file, 0o644);
  const program = await bench.run(leakyCloud(), '--cloud-config=cloud.conf', '-v=8', '--leader-elect=false');
  const events = (): readonly unknown[] => bench.server.store.list({ plural: 'events' });
  await until('looked up', () => /node-1.*401 for https/u.test(program.log()), program.log);
  const pages = await Promise.all(
    ['/metrics', '/configz', '/healthz?verbose', '/flagz', '/statusz'].map((path) => page(program.url + path)),
  );
  program.signal('SIGTERM');
  await program.ended;
  for (const secret of [TOKEN, CLOUD_SECRET]) {
    for (const form of [
      secret,
      encodeURIComponent(secret),
      Buffer.from(secret).toString('base64').replace(/=+$/u, ''),
    ]) {
      assert.ok(!program.log().includes(form), program.log());
      assert.ok(!pages.join().includes(form), 'page');
      assert.ok(!JSON.stringify(events()).includes(form), 'Event');
    }
  }
  assert.match(program.log(), /\[redacted\]/u);
  // That others on the machine can read it is told.
  const told = /^W.*can be read by others.* flag="--cloud-config" file="[^"]*\/([^"/]+)" mode="644"$/gmu;
  assert.deepEqual(
    [...program.log().matchAll(told)].map(([, file]) => file),
    ['cloud.conf', 'clouds.yaml'],
  );
});

test('a token that the API server refuses is not quoted', async () => {
  await using bench = await Bench.start(TOKEN);
  const file = join(bench.directory, 'kubeconfig');
  const canary = 'hq8tz3nfyc5wdk2s';
  await writeFile(file, (await readFile(file, 'utf8')).replace(TOKEN, canary));
  const program = await bench.run(greenCloud(), '-v=8');
  assert.equal(await program.ended, 1);
  assert.match(program.log(), /401|Unauthorized/u);
  assert.ok(!program.log().includes(canary), program.log());
});
