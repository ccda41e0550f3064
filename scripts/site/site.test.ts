import assert from 'node:assert/strict';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { brokenBuiltLinks } from './built-links.ts';
import { publishInto } from './publish-into.ts';
import { sidebarOf, type SidebarItem } from './sidebar.ts';
import { addressOf, PAGE_GLOBS, pageOf, targetOf } from './site-pages.ts';

const root = path.resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(path.join(tmpdir(), 'site-'));
after(() => rmSync(folder, { recursive: true }));

test('files of the repository are pages under addresses without docs/ and README', () => {
  for (const [file, address] of [
    ['docs/README.md', '/'],
    ['docs/guides/deploy/README.md', '/guides/deploy/'],
    ['docs/guides/explain.md', '/guides/explain.html'],
    ['docs/runbooks/OutriggerDown.md', '/runbooks/OutriggerDown.html'],
    ['providers/openstack/docs/README.md', '/providers/openstack/'],
    ['packages/kube/README.md', '/packages/kube.html'],
    ['e2e/README.md', undefined],
  ] as const) {
    const page = pageOf(file);
    assert.equal(page === undefined ? undefined : addressOf(page), address, file);
  }
});

test('a link leads to the page of a file, to a file of docs/, or to a source', () => {
  const files = new Set(['docs/README.md', 'docs/guides/deploy/README.md', 'providers/vsphere/docs/README.md']);
  const from = 'docs/guides/deploy/helm.md';
  assert.deepEqual(targetOf(from, 'README.md#roles', files), { page: '/guides/deploy/#roles' });
  assert.deepEqual(targetOf(from, '../../../providers/vsphere/docs', files), { page: '/providers/vsphere/' });
  assert.deepEqual(targetOf(from, '../../images/a.png', files), { file: '/images/a.png' });
  assert.deepEqual(targetOf(from, '../../../deploy/rbac.yml', files), { source: 'deploy/rbac.yml' });
  for (const other of ['https://kubernetes.io', '#roles', 'mailto:a@example.com'])
    assert.equal(targetOf(from, other, files), undefined);
});

test('the sidebar has each page of docs/ and of the providers once, in the order of docs/README.md', () => {
  const addresses: string[] = [];
  const collect = (items: readonly SidebarItem[]): void => {
    for (const { items: inner = [], link } of items) {
      if (link !== undefined) addresses.push(link);
      collect(inner);
    }
  };
  collect(sidebarOf((file) => readFileSync(path.join(root, file), 'utf8')));
  assert.deepEqual(addresses, [...new Set(addresses)]);
  const pages = globSync(PAGE_GLOBS.slice(0, 2), { cwd: root })
    .filter((file) => file !== 'docs/README.md')
    .map((file) => addressOf(pageOf(file) ?? file));
  assert.deepEqual(
    pages.filter((page) => !addresses.includes(page)),
    [],
  );
});

test('a link of the built site that leads to no file or to no heading is found', () => {
  const dist = path.join(folder, 'dist');
  mkdirSync(path.join(dist, 'guides'), { recursive: true });
  writeFileSync(path.join(dist, 'guides/index.html'), '<h1 id="top">a</h1>');
  writeFileSync(
    path.join(dist, 'index.html'),
    `<a href="/v1.0.0/guides/#top"></a><a href="/v1.0.0/guides/#none"></a><a href="/v1.0.0/gone.html"></a>
     <a href="/guides/"></a><a href="https://kubernetes.io"></a><img src="./gone.png">`,
  );
  assert.deepEqual(brokenBuiltLinks(dist, '/v1.0.0/'), [
    'index.html: /v1.0.0/guides/#none',
    'index.html: /v1.0.0/gone.html',
    'index.html: /guides/',
    'index.html: ./gone.png',
  ]);
});

test('a published folder keeps what it has, and leads to the newest version', () => {
  const dist = path.join(folder, 'one');
  mkdirSync(dist);
  writeFileSync(path.join(dist, 'index.html'), 'a page');
  const into = path.join(folder, 'published');
  publishInto(into, dist, '1.10.0');
  publishInto(into, dist, '2.0.0-rc.1');
  publishInto(into, dist, '2.0.0');
  assert.deepEqual(publishInto(into, dist, '1.9.1'), ['2.0.0', '2.0.0-rc.1', '1.10.0', '1.9.1']);
  assert.deepEqual(JSON.parse(readFileSync(path.join(into, 'versions.json'), 'utf8')), [
    '2.0.0',
    '2.0.0-rc.1',
    '1.10.0',
    '1.9.1',
  ]);
  assert.match(readFileSync(path.join(into, 'index.html'), 'utf8'), /url=\.\/v2\.0\.0\//u);
  assert.equal(readFileSync(path.join(into, 'v1.10.0/index.html'), 'utf8'), 'a page');
});
