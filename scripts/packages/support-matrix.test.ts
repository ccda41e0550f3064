import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { RELEASES } from '@outrigger/testing';
import { workspacePackages } from './workspace-packages.ts';

const read = (file: string): string => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
const page = read('docs/reference/support-matrix.md');

test('the matrix has the version, the Kubernetes releases and the Node that the repository has', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [row = ''] = /^\| \d+\.\d+\.\d+.*$/mu.exec(page) ?? [];
  const [, outrigger = '', kubernetes = '', node = ''] = row.split('|').map((cell) => cell.trim());
  assert.equal(outrigger, version);
  assert.deepEqual(kubernetes.split(', ').toSorted(), Object.keys(RELEASES).toSorted());
  assert.equal(node, read('.node-version').trim());
});

test('the matrix has each package, on each Node that its engines name', () => {
  const rows = [...page.matchAll(/^\| `(@outrigger\/[\w-]+)` \| (.+) \|$/gmu)].map(([, name, nodes]) => [name, nodes]);
  const expected = workspacePackages().map(({ manifest: { engines, name } }): [string, string] => {
    const floor = Number.parseInt(engines?.node?.replace('>=', '') ?? '', 10);
    return [name, [20, 22, 24].filter((major) => major >= floor).join(', ')];
  });
  assert.deepEqual(
    rows,
    expected.toSorted(([a], [b]) => a.localeCompare(b)),
  );
});
