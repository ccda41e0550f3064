import { strict as assert } from 'node:assert';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { silentLogger, systemClock } from '@outrigger/kube';
import { findNode } from './example.ts';
import { loadProvider, openProvider } from './index.ts';

async function exampleOf(readme: URL): Promise<string | undefined> {
  return /```ts\n([\s\S]*?)```/u.exec(await readFile(readme, 'utf8'))?.[1];
}

test('the example of the README is a file that compiles, and finds a node by the provider of the contract’s README', async () => {
  const source = await readFile(new URL('example.ts', import.meta.url), 'utf8');
  const shown = await exampleOf(new URL('../README.md', import.meta.url));
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/cloud-runtime'"));

  const provider = new URL('../../cloud-provider/examples/readme.ts', import.meta.url);
  const contract = await exampleOf(new URL('../../cloud-provider/README.md', import.meta.url));
  assert.equal(contract, await readFile(provider, 'utf8'));

  const node = { name: 'a', uid: 'uid-a', labels: {}, annotations: {} };
  const { signal } = new AbortController();
  // It asks for a cloud config, and is given none: that is its author's one clear line.
  await assert.rejects(findNode(fileURLToPath(provider), node, signal), /^CloudError: --cloud-config is needed$/);
  const loaded = await loadProvider(fileURLToPath(provider), { builtIn: {}, workingDirectory: '/' });
  await using opened = await openProvider(loaded, {
    cluster: { id: 'cluster-1', name: 'test' },
    config: { fileName: 'cloud.json', text: '{}' },
    clock: systemClock,
    logger: silentLogger,
    random: () => 0,
  });
  const ask = async (one: typeof node): Promise<string | undefined> =>
    (await opened.lookups?.lookUp(one, { need: 'state', signal }))?.result.kind;
  assert.deepEqual([await ask(node), await ask({ ...node, name: 'b', uid: 'uid-b' })], ['found', 'missing']);
  assert.equal((await opened.lookups?.read(node, { need: 'state', signal }))?.result.kind, 'missing');
});
