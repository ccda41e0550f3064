import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPage } from './next-page.ts';

const next = 'http://10.0.0.1:8774/v2.1/servers/detail?limit=2&marker=b&tags=x&tags=y';
const query = [
  ['limit', '2'],
  ['marker', 'b'],
  ['tags', 'x'],
  ['tags', 'y'],
];

test('the next page, however a service names it; its host is of no account', () => {
  for (const body of [
    {
      servers: ['a', 'b'],
      servers_links: [
        { rel: 'previous', href: 'http://x/?marker=0' },
        { rel: 'next', href: next },
      ],
    },
    { servers: ['a', 'b'], links: { next, self: 'x' } },
    { servers: ['a', 'b'], next },
    { servers: ['a', 'b'], next: next.slice('http://10.0.0.1:8774'.length) },
  ]) {
    assert.deepEqual(readPage(body, 'servers', 'GET /servers'), { items: ['a', 'b'], next: query });
  }
});

test('the last page', () => {
  for (const rest of [
    {},
    { servers_links: [] },
    { servers_links: [{ rel: 'self', href: next }] },
    { links: { next: null } },
  ]) {
    assert.deepEqual(readPage({ servers: [], ...rest }, 'servers', 'GET /servers'), { items: [], next: undefined });
  }
});

test('an answer without the list, or with a page that cannot be read, is no answer', () => {
  for (const body of [
    undefined,
    null,
    'x',
    [],
    {},
    { servers: {} },
    { ports: [] },
    { servers: [], next: 7 },
    { servers: [], next: `?a=${'x'.repeat(16_384)}` },
  ]) {
    assert.throws(() => readPage(body, 'servers', 'GET /servers'), { code: 'unavailable' });
  }
});

test('what was asked for, and the link to the next page leaves out, is asked for again', () => {
  const body = { loadbalancers: ['a'], loadbalancers_links: [{ rel: 'next', href: 'http://x/?limit=1&marker=a' }] };
  const asked = [
    ['tags-any', 'x'],
    ['fields', 'id'],
    ['fields', 'name'],
    ['limit', '5'],
  ] as const;
  assert.deepEqual(readPage(body, 'loadbalancers', 'GET /loadbalancers', asked).next, [
    ['limit', '1'],
    ['marker', 'a'],
    ['tags-any', 'x'],
    ['fields', 'id'],
    ['fields', 'name'],
  ]);
});
