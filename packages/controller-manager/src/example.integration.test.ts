import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePort, hollowNode, startEmbeddedApiServer } from '@outrigger/testing';
import * as example from './example.ts';

/** For what the program does by itself, with nobody to say that it has been done. */
async function until(what: string, holds: () => boolean | Promise<boolean>, log: () => string): Promise<void> {
  for (let i = 0; i < 6_000; i++) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  assert.fail(`${what}\n${log()}`);
}

function page(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path, rejectUnauthorized: false, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });
}

test('the example of the README is the file that compiles, and it is short', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const source = readFileSync(new URL('./example.ts', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/controller-manager'"));
  assert.ok(source.split('\n').length - 1 < 60, 'less than 60 lines');
});

test('it leads, greets the nodes there are and those that come, serves health and metrics, and gives its Lease back', async () => {
  await using server = await startEmbeddedApiServer();
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-example-'));
  const stop = new AbortController();
  let text = '';
  const log = (): string => text;
  const add = (name: string): void => {
    const node = hollowNode({ name, ip: '10.0.0.1' });
    server.store.put({ ...node, metadata: { ...node.metadata, name } });
  };
  const greeting = (name: string): string | undefined =>
    server.store.get({ plural: 'nodes' }, name)?.metadata.labels?.['greeting'];
  const holder = (): unknown => {
    const leases = { group: 'coordination.k8s.io', plural: 'leases' };
    const lease = server.store.get(leases, 'greeter', 'kube-system') as
      | { spec?: { holderIdentity?: string } }
      | undefined;
    return lease?.spec?.holderIdentity;
  };
  try {
    const kubeconfig = join(directory, 'kubeconfig');
    await writeFile(kubeconfig, server.kubeconfig().yaml);
    add('there-before');
    const port = await freePort();
    const ended = example.main([`--kubeconfig=${kubeconfig}`, `--port=${port}`, '--greeting=hello'], stop.signal, {
      write: (line) => void (text += line),
    });
    await until('greets', () => greeting('there-before') === 'hello', log);
    assert.match(String(holder()), /_/u);
    add('comes-later');
    await until('greets', () => greeting('comes-later') === 'hello', log);
    assert.equal(await page(port, '/healthz'), 'ok');
    assert.match(await page(port, '/livez/leaderElection'), /^ok$/u);
    assert.equal(await page(port, '/livez/greeter'), 'ok');
    const metrics = await page(port, '/metrics');
    assert.match(metrics, /^leader_election_master_status\{name="greeter"\} 1$/mu);
    assert.match(metrics, /^workqueue_adds_total\{name="greeter"\} \d+$/mu);
    assert.match(metrics, /^running_managed_controllers\{name="greeter",manager="greeter"\} 1$/mu);
    stop.abort();
    assert.equal(await ended, 0, text);
    assert.equal(holder(), '', 'the Lease is given back');
  } finally {
    stop.abort();
    await rm(directory, { recursive: true });
  }
});

test('a flag that it does not know is refused before anything is touched', async () => {
  const log = { write: () => assert.fail('nothing to log') };
  await assert.rejects(example.main(['--greting=hello'], AbortSignal.abort(), log), /did you mean --greeting\?/u);
});
