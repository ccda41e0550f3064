import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { openedHost } from './opened-host.suite.ts';
import { SharedFirewall } from './example.ts';

test('the example of the README is a file that compiles; two Services are one write', async () => {
  const source = await readFile(new URL('example.ts', import.meta.url), 'utf8');
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8');
  const shown = /```ts\n([\s\S]*?)```/u.exec(readme)?.[1];
  assert.equal(shown, source.replace("'./index.ts'", "'@outrigger/provider-kit'"));

  await using opened = await openedHost(new FakeClock());
  const { host } = opened;
  const written: (readonly unknown[])[] = [];
  const firewall = new SharedFirewall(
    'fw-1',
    {
      read: async () => ({ state: [], version: '1' }),
      write: async (_id, state) => {
        written.push(state);
        return { kind: 'written' };
      },
    },
    host,
  );
  await Promise.all([firewall.open('a', 80, host.callContext()), firewall.open('b', 443, host.callContext())]);
  assert.deepEqual(written, [
    [
      { name: 'a', port: 80 },
      { name: 'b', port: 443 },
    ],
  ]);
});
