import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readLockFile } from './locked-packages.ts';

test('here each package is installed as the lock file has it', () => {
  const lock = readLockFile(fileURLToPath(new URL('../../', import.meta.url)));
  assert.ok(Object.keys(lock.packages).includes('node_modules/undici'));
});

test('what is installed with another hash, or with none, is refused by its place', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'outrigger-lock-'));
  const locked = {
    'packages/kube': { version: '0.1.0' },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-AAAA' },
    'node_modules/b': { version: '1.0.0', integrity: 'sha512-BBBB' },
    'node_modules/of-another-platform': { version: '1.0.0', integrity: 'sha512-CCCC' },
  };
  const { 'node_modules/of-another-platform': _, ...here } = locked;
  const install = (packages: object): void => {
    writeFileSync(path.join(root, 'node_modules/.package-lock.json'), JSON.stringify({ packages }));
  };
  try {
    writeFileSync(path.join(root, 'package-lock.json'), JSON.stringify({ packages: locked }));
    mkdirSync(path.join(root, 'node_modules'));
    assert.throws(() => readLockFile(root), /node_modules\/\.package-lock\.json is not there: run make setup$/u);
    // A release has another version of our own, and somebody a package of their own.
    install({ ...here, 'packages/kube': { version: '9.8.7' }, 'node_modules/own': { integrity: 'sha512-DDDD' } });
    assert.deepEqual(readLockFile(root).packages, locked);
    install({ ...here, 'node_modules/a': { integrity: 'sha512-EEEE' }, 'node_modules/b': { version: '1.0.0' } });
    assert.throws(
      () => readLockFile(root),
      /^Error: not installed as package-lock\.json has it: node_modules\/a, node_modules\/b: remove node_modules and run make setup$/u,
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
