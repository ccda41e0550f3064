import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { openedHost } from '../opened-host.suite.ts';
import { restPartCalls } from '../parts/rest-part-calls.ts';
import { HttpClient } from './http-client.ts';
import { RestCollection } from './rest-collection.ts';

test('a collection is five requests; with `item`, things are wrapped in it', async () => {
  await using opened = await openedHost(new FakeClock());
  const sent: string[] = [];
  const client = new HttpClient({
    host: opened.host,
    cloud: 'Acme',
    root: 'https://acme.example',
    fetch: async (url, { body, method }) => {
      sent.push([method, url, body].join(' '));
      const text = url.includes('?') ? '{"servers":[{"id":"1"}]}' : method === 'DELETE' ? '' : '{"server":{"id":"1"}}';
      return { status: 200, headers: { get: () => null }, text: async () => text };
    },
  });
  const servers = new RestCollection<{ readonly id: string }>(client, '/servers', {
    items: 'servers',
    item: 'server',
    query: { all: true },
    change: 'PATCH',
    bucket: 'compute',
  });
  const call = opened.host.callContext();
  assert.deepEqual(await servers.list(call), [{ id: '1' }]);
  assert.deepEqual(await servers.read('1', call), { id: '1' });
  assert.deepEqual(await servers.create({ a: 1 }, call), { id: '1' });
  await servers.change('1', { a: 2 }, call);
  await servers.delete('1', call);
  assert.deepEqual(sent, [
    'GET https://acme.example/servers?all=true ',
    'GET https://acme.example/servers/1 ',
    'POST https://acme.example/servers {"server":{"a":1}}',
    'PATCH https://acme.example/servers/1 {"server":{"a":2}}',
    'DELETE https://acme.example/servers/1 ',
  ]);
  const { update } = restPartCalls(servers, { partOf: () => assert.fail(), ownerIn: () => ({}) });
  const owner = { clusterId: 'c', uid: 'u' };
  const desired = { service: {} as never, wanted: true, owner, backEnds: [] };
  await update?.('1', { key: '', attributes: { a: 1, made: 'long ago' }, owner, desired, changed: ['a'] }, call);
  assert.equal(sent.at(-1), 'PATCH https://acme.example/servers/1 {"server":{"a":1}}');
  const options = { partOf: () => assert.fail(), ownerIn: () => ({}) };
  assert.ok(!('claim' in restPartCalls(servers, { ...options, canClaim: false })));
});
