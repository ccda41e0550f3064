/** The example of the README: the same text, so that it cannot rot. */
import { readFile } from 'node:fs/promises';
import assert from 'node:assert/strict';
import { test } from 'node:test';
// #region example
import { startEmbeddedApiServer } from './embedded-api-server.ts';

test('a label that is patched is seen in the store', async () => {
  await using server = await startEmbeddedApiServer({ tls: false });
  server.store.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'worker-1' } });

  const response = await fetch(`${server.url}/api/v1/nodes/worker-1`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ metadata: { labels: { zone: 'a' } } }),
  });

  assert.equal(response.status, 200);
  assert.deepEqual(server.store.get({ plural: 'nodes' }, 'worker-1')?.metadata.labels, { zone: 'a' });
});
// #endregion example

test('the README shows this very example', async () => {
  const [readme, source] = await Promise.all([
    readFile(new URL('../../README.md', import.meta.url), 'utf8'),
    readFile(new URL(import.meta.url), 'utf8'),
  ]);
  const [, example = 'no example'] = /^\/\/ #region example\n(.*?)^\/\/ #endregion/ms.exec(source) ?? [];
  const shown = example.replace("'./embedded-api-server.ts'", "'@outrigger/testing'").trim();
  assert.ok(readme.includes(shown), 'the README and the example differ');
});
