import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack } from '../fake-openstack.ts';
import { seedProject } from '../seed-project.ts';
import { seededRandom } from '../seeded-random.ts';
import { signIn, type Headers } from '../sign-in.ts';

const V1: Headers = { 'openstack-api-version': 'compute 2.1' };
const V69: Headers = { 'openstack-api-version': 'compute 2.69' };

interface Page {
  readonly servers: readonly { readonly id: string; readonly name?: string; readonly status: string }[];
  readonly servers_links?: readonly { readonly href: string }[];
}

async function start() {
  const cloud = createFakeOpenStack({ clock: new FakeClock(), random: seededRandom(1) });
  const { addNode } = seedProject(cloud);
  const { get } = await signIn(cloud);
  const list = async (query = '', headers: Headers = V69) => {
    const { status, body } = await get(`/compute/v2.1/servers/detail${query}`, headers);
    return { status, ...(body as Page) };
  };
  return { cloud, addNode, get, list };
}

test('a lost cell: its servers are UNKNOWN in the plain list, and left out of every other', async () => {
  const { cloud, addNode, get, list } = await start();
  const { server: here } = addNode({ name: 'here' });
  const { server: lost } = addNode({ name: 'lost', cell: 'cell2' });
  cloud.compute.loseCell('cell2');
  const statuses = new Map((await list()).servers.map(({ id, status }) => [id, status]));
  assert.deepEqual([statuses.get(here.id), statuses.get(lost.id)], ['ACTIVE', 'UNKNOWN']);
  for (const [query, headers] of [
    ['?limit=10', V69],
    ['?name=lost', V69],
    ['?status=ACTIVE', V69],
    ['', V1],
  ] as const) {
    const { servers } = await list(query, headers);
    assert.ok(!servers.some(({ id }) => id === lost.id), query);
  }
  const shown = await get(`/compute/v2.1/servers/${lost.id}`, V69);
  assert.equal((shown.body as { server: { status: string } }).server.status, 'UNKNOWN');
  assert.equal((await get(`/compute/v2.1/servers/${lost.id}`, V1)).status, 500);
  // The page after a server of a lost cell cannot be found.
  assert.equal((await list(`?marker=${lost.id}`)).status, 500);
  cloud.compute.restoreCell('cell2');
  assert.equal((await list('?name=lost')).servers.length, 1);
});

test('pages: the newest first, never more than the limit, a full last page names one more', async () => {
  const { cloud, addNode, list } = await start();
  cloud.compute.maxLimit = 2;
  for (const name of ['a', 'b', 'c', 'd']) addNode({ name });
  const names: (string | undefined)[] = [];
  let pages = 0;
  for (let query: string | undefined = ''; query !== undefined; pages++) {
    const page: Page = await list(query);
    names.push(...page.servers.map(({ name }) => name));
    query = page.servers_links && new URL(page.servers_links[0]?.href ?? '').search;
  }
  assert.deepEqual(names, ['d', 'c', 'b', 'a']);
  assert.equal(pages, 3);
});

test('a server that is softly deleted is in no list, and there all the same', async () => {
  const { cloud, addNode, get, list } = await start();
  const { server } = addNode({ name: 'trash' });
  cloud.compute.update(server.id, { status: 'SOFT_DELETED' });
  assert.deepEqual((await list()).servers, []);
  assert.equal((await get(`/compute/v2.1/servers/${server.id}`)).status, 200);
});

test('a lock is shown from 2.9 on, and why it was set from 2.73 on', async () => {
  const { cloud, addNode, get } = await start();
  const { server } = addNode({ name: 'node' });
  const lockAt = async (version: string) => {
    const headers = { 'openstack-api-version': `compute ${version}` };
    const { body } = await get(`/compute/v2.1/servers/${server.id}`, headers);
    const { locked, locked_reason: reason } = (body as { server: Record<string, unknown> }).server;
    return [locked, reason];
  };
  assert.deepEqual(await lockAt('2.73'), [false, null]);
  cloud.compute.update(server.id, { lockReason: null });
  assert.deepEqual(await lockAt('2.73'), [true, null]);
  cloud.compute.update(server.id, { lockReason: 'host maintenance' });
  assert.deepEqual(await lockAt('2.73'), [true, 'host maintenance']);
  assert.deepEqual(await lockAt('2.72'), [true, undefined]);
  assert.deepEqual(await lockAt('2.8'), [undefined, undefined]);
});

test('the flavor is embedded from 2.47 on, and a reference before', async () => {
  const { addNode, get } = await start();
  const { server } = addNode({ name: 'node' });
  const flavorAt = async (version: string) => {
    const headers = { 'openstack-api-version': `compute ${version}` };
    const { body } = await get(`/compute/v2.1/servers/${server.id}`, headers);
    return (body as { server: { flavor: Record<string, unknown> } }).server.flavor;
  };
  assert.equal((await flavorAt('2.46'))['id'], server.flavor.id);
  assert.equal((await flavorAt('2.47'))['original_name'], server.flavor.name);
  assert.equal('id' in (await flavorAt('2.47')), false);
});

test('from 2.90 on a server has the host name that nova makes of its name', async () => {
  const { addNode, list } = await start();
  const { server: nothing } = addNode({ name: '.節点_' });
  for (const [name, hostName] of [
    ['rec|3', 'rec3'],
    ['My_Node 1', 'my-node-1'],
    ['node.example.com', 'node-example-com'],
    ['-Knoten Ä節.', 'knoten-ä'],
    [`${'a'.repeat(62)}.b`, 'a'.repeat(62)],
    [nothing.name, `Server-${nothing.id}`],
  ] as const) {
    const { id } = name === nothing.name ? nothing : addNode({ name }).server;
    const { servers } = await list('', { 'openstack-api-version': 'compute 2.90' });
    const shown = servers.find((server) => server.id === id);
    assert.equal((shown as { readonly 'OS-EXT-SRV-ATTR:hostname'?: string })['OS-EXT-SRV-ATTR:hostname'], hostName);
  }
});
