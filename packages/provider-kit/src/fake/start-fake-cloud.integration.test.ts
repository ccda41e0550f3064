import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import type { FakeResource } from './fake-table.ts';
import { startFakeCloud } from './start-fake-cloud.ts';

const table = { resources: { servers: { properties: { name: { type: 'string' } } } } };

test('it listens on 127.0.0.1, answers as its table says, and closes connections where a rule says so', async () => {
  await using cloud = await startFakeCloud({ clock: systemClock, table });
  assert.match(cloud.endpoint, /^http:\/\/127\.0\.0\.1:\d+$/);
  const url = `${cloud.endpoint}/servers`;
  const made = await fetch(url, { method: 'POST', body: '{"name":"a"}' });
  assert.deepEqual([made.status, made.headers.get('content-type')], [201, 'application/json']);
  assert.deepEqual(await (await fetch(url)).json(), { items: [{ id: 'servers-1', name: 'a' }] });
  cloud.faults.set({ drops: true });
  await assert.rejects(fetch(url));
});

test('disposing of it fails the test whose provider sent what the cloud does not know', async () => {
  const cloud = await startFakeCloud({ clock: systemClock, table });
  await fetch(`${cloud.endpoint}/servers`, { method: 'POST', body: '{"nmae":"a"}' });
  await assert.rejects(async () => cloud[Symbol.asyncDispose](), /POST \/servers: request: body: nmae is not known/);
});

test('a table that contradicts itself is told before anything listens', async () => {
  const start = (servers: FakeResource) => startFakeCloud({ clock: systemClock, table: { resources: { servers } } });
  await assert.rejects(start({ properties: { name: { type: 'strnig' } } }), /schema is invalid.*type/);
  await assert.rejects(start({ references: { network: 'networks' } }), /servers: the table has no resource networks/);
});
