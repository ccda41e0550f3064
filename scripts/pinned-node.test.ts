import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const { pinnedNode, substitute } = createRequire(import.meta.url)('./pinned-node.cjs') as {
  readonly pinnedNode: (
    root: string,
    binaries?: Record<string, string>,
    platform?: string,
  ) => { version: string } | undefined;
  readonly substitute: (wanted: string, running: string) => { usable: boolean; text?: string };
};
const repository = fileURLToPath(new URL('../', import.meta.url));

test('the Node that is installed is the one that is pinned, and the one that runs', () => {
  const version = readFileSync(join(repository, '.node-version'), 'utf8').trim();
  const found = pinnedNode(repository);
  if (found) assert.equal(found.version, version);
  assert.equal(process.versions.node, version);
});

test('where there is no pinned Node, setup refuses one that is too old to run the sources, and names the right one', () => {
  assert.deepEqual(substitute('24.21.0', '24.21.0'), { usable: true });
  assert.deepEqual(
    ['24.20.0', '26.0.0', '20.19.0', '22.22.0'].map((running) => substitute('24.21.0', running).usable),
    [true, true, false, false],
  );
  assert.match(
    substitute('24.21.0', '20.19.0').text ?? '',
    /put Node 24\.21\.0 first on the path; this is 20\.19\.0$/u,
  );
});

test('a binary that is another one is refused, and so is none', () => {
  const root = mkdtempSync(join(tmpdir(), 'outrigger-node-'));
  const directory = join(root, 'node_modules/node-a-b');
  try {
    const binaries = { 'node-a-b': createHash('sha256').update('good').digest('hex') };
    assert.throws(() => pinnedNode(root, binaries, 'a-b'), /node-a-b is not installed: run make setup/u);
    mkdirSync(join(directory, 'bin'), { recursive: true });
    writeFileSync(join(directory, 'package.json'), '{"version":"1.2.3"}');
    writeFileSync(join(directory, 'bin/node'), 'good');
    assert.equal(pinnedNode(root, binaries, 'a-b')?.version, '1.2.3');
    writeFileSync(join(directory, 'bin/node'), 'evil');
    assert.throws(() => pinnedNode(root, binaries, 'a-b'), /has the SHA-256 [0-9a-f]{64}, and not/u);
    assert.equal(pinnedNode(root, binaries, 'c-d'), undefined);
  } finally {
    rmSync(root, { recursive: true });
  }
});
