import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { BundledPackage } from './bundled-packages.ts';
import { licenceTexts } from './licence-texts.ts';

test('each package has the texts of its licence, one without any what its package.json says', () => {
  const root = mkdtempSync(path.join(tmpdir(), 'outrigger-licences-'));
  const packageOf = (name: string, files: Readonly<Record<string, string>>): BundledPackage => {
    const place = `node_modules/${name}`;
    mkdirSync(path.join(root, place, 'licenses'), { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(root, place, file), text);
    return { path: place, name, version: '1.2.3', license: 'MIT', integrity: '', dependsOn: [], direct: true };
  };
  const rule = `\n\n${'='.repeat(80)}\n\n`;
  try {
    const packages = [
      packageOf('@a/b', { LICENSE: 'terms of b\n', 'NOTICE.md': 'notice of b\n', 'license-check.js': 'code' }),
      packageOf('c', { 'package.json': '{"author":{"name":"C. Doe"}}' }),
      packageOf('d', { 'package.json': '{"author":"D. Doe"}', 'Licence.txt': 'terms of d' }),
    ];
    assert.equal(
      licenceTexts(packages, root),
      [
        '@a/b 1.2.3 (MIT)\n\nterms of b\n\nnotice of b',
        'c 1.2.3 (MIT)\n\nThe package has no text of its licence. Its author: C. Doe',
        'd 1.2.3 (MIT)\n\nterms of d\n',
      ].join(rule),
    );
  } finally {
    rmSync(root, { recursive: true });
  }
});
