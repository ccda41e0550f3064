/** Extra routes and address pairs over the fake OpenStack. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type Route, type RouteResult } from '@outrigger/cloud-provider';
import { FakeRouterRig } from './fake-router.suite.ts';

function codesOf(results: readonly RouteResult[]): readonly string[] {
  return results.map((result) => {
    if (result.kind !== 'failed') return result.kind;
    return isCloudError(result.error) ? result.error.code : String(result.error);
  });
}

const owned = (route: Route): Route => ({ ...route, ownership: 'owned' });

test('a route lets the pods through the port of its next hop, in both families with one write', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const [v4, v6] = ['10.244.1.0/24', 'fd00:0:0:1::/64'];
  assert.deepEqual(codesOf(await rig.routes.create([rig.request(a, v4), rig.request(a, v6)], rig.call)), [
    'done',
    'done',
  ]);
  assert.deepEqual(rig.pairsOf('a'), [v4, v6]);
  assert.equal(rig.cloud.calls.counts()['network PUT /ports/{id}'], 1);
  const { routes } = await rig.routes.list(rig.call);
  assert.deepEqual(codesOf(await rig.routes.delete(routes.map(owned), rig.call)), ['done', 'done']);
  assert.deepEqual([rig.stored, rig.pairsOf('a')], [[], []]);
});

test('pairs of others stay, and one that was missing is mended where the route is there', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const { ports } = rig.cloud.networking;
  ports.change(rig.portOf('a'), {
    allowed_address_pairs: [{ ip_address: '172.16.0.9', mac_address: 'fa:16:3e:00:00:09' }],
  });
  const hop = rig.addressesOf('a')[0]?.address ?? '';
  rig.addForeignRoute('10.244.1.0/24', hop);
  assert.deepEqual(codesOf(await rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call)), ['exists']);
  assert.deepEqual(rig.pairsOf('a'), ['172.16.0.9', '10.244.1.0/24']);
  assert.equal(rig.portOf('a').allowed_address_pairs[0]?.mac_address, 'fa:16:3e:00:00:09');
  const { routes } = await rig.routes.list(rig.call);
  await rig.routes.delete(routes.map(owned), rig.call);
  assert.deepEqual(rig.pairsOf('a'), ['172.16.0.9']);
});

test('a port that somebody changes meanwhile is read again, and nothing of his is lost', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  let times = 0;
  rig.cloud.faults.set({
    effect: 'run',
    operation: 'PUT /ports',
    times: 2,
    run: () => {
      const before = rig.portOf('a');
      const allowed = [...before.allowed_address_pairs, { ip_address: `172.16.0.${++times}` }];
      rig.cloud.networking.ports.change(before, { allowed_address_pairs: allowed });
    },
  });
  assert.deepEqual(codesOf(await rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call)), ['done']);
  assert.deepEqual(rig.pairsOf('a'), ['172.16.0.1', '172.16.0.2', '10.244.1.0/24']);
});

test('a port without port security is left alone; a full one is a quota of its node alone', async () => {
  await using rig = await FakeRouterRig.open();
  const [open, full, other] = [rig.addNode('open'), rig.addNode('full'), rig.addNode('other')];
  const { ports } = rig.cloud.networking;
  ports.change(rig.portOf('open'), { port_security_enabled: false });
  const nine = Array.from({ length: 9 }, (_, i) => ({ ip_address: `172.16.0.${i}` }));
  ports.change(rig.portOf('full'), { allowed_address_pairs: nine });
  const results = await rig.routes.create(
    [
      rig.request(open, '10.244.1.0/24'),
      rig.request(full, '10.244.2.0/24'),
      // There is room for one of the two.
      rig.request(full, 'fd00:0:0:2::/64'),
      rig.request(other, '10.244.3.0/24'),
    ],
    rig.call,
  );
  assert.deepEqual(codesOf(results), ['done', 'done', 'quota', 'done']);
  assert.deepEqual([rig.pairsOf('open'), rig.pairsOf('full').length], [[], 10]);
  assert.equal(rig.stored.length, 3, 'no route without its pair');
});

test('a quota of routes lets in as many as fit, asks few times, and leaves no pair of the others', async () => {
  await using rig = await FakeRouterRig.open();
  const names = Array.from({ length: 40 }, (_, i) => `n${i}`);
  const requests = names.map((name, i) => rig.request(rig.addNode(name), `10.244.${i}.0/24`));
  rig.cloud.calls.reset();
  const results = codesOf(await rig.routes.create(requests, rig.call));
  assert.deepEqual(
    results,
    names.map((_, i) => (i < 30 ? 'done' : 'quota')),
  );
  assert.deepEqual(
    names.map((name) => rig.pairsOf(name).length),
    names.map((_, i) => (i < 30 ? 1 : 0)),
  );
  const asked = rig.cloud.calls.counts()['network PUT /routers/{id}/add_extraroutes'] ?? 0;
  assert.ok(asked <= 10, `${asked} requests`);
});

test('one bad hop fails alone: off the networks of the router, of another server, of no port', async () => {
  await using rig = await FakeRouterRig.open();
  const [a, b, c, d] = [rig.addNode('a'), rig.addNode('b'), rig.addNode('c'), rig.addNode('d')];
  const at = (address: string) => [{ type: 'InternalIP', address }] as const;
  const of = (name: string): string => rig.addressesOf(name)[0]?.address ?? '';
  const results = await rig.routes.create(
    [
      rig.request(a, '10.244.1.0/24'),
      { node: b, addresses: at('192.0.2.1'), destination: '10.244.2.0/24' },
      { node: c, addresses: at(of('a')), destination: '10.244.3.0/24' },
      { node: d, addresses: at('10.0.99.99'), destination: '10.244.4.0/24' },
      { node: d, addresses: [], destination: '10.244.5.0/24' },
      { node: d, addresses: at(of('d')), destination: '10.244.6.0' },
      rig.request(d, '10.244.7.0/24'),
    ],
    rig.call,
  );
  const expected = ['done', 'not-found', 'not-found', 'not-found', 'conflict', 'invalid', 'done'];
  assert.deepEqual(codesOf(results), expected);
  assert.equal(rig.stored.length, 2);
});

test('a port that is not of the node’s server gets no pair, and its address no route, whatever the port is', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const { ports } = rig.cloud.networking;
  const { network, project } = rig.seeded;
  const others = [
    { device_owner: 'Octavia', device_id: 'lb-1' },
    { device_owner: 'network:dhcp', device_id: 'dhcp-1' },
    { device_owner: '', device_id: '' },
    { device_owner: 'baremetal:none', device_id: 'machine-1' },
    { device_owner: 'trunk:subport', device_id: '' },
  ].map((more) => ports.add({ network_id: network.id, project_id: project.id, ...more }));
  const [routers] = ports.ports.where('device_id', rig.router.id).filter(({ network_id: id }) => id === network.id);
  assert.ok(routers);
  const all = [...others, routers];
  const requests = all.map(({ fixed_ips: [ip] }, i) => ({
    node: a,
    addresses: [{ type: 'InternalIP', address: ip?.ip_address ?? '' } as const],
    destination: `10.244.${i}.0/24`,
  }));
  const unknown = { ...rig.request(a, '10.244.99.0/24'), node: { ...a, providerID: undefined } };
  // A kubelet may have registered with the ID of something else.
  const asDHCP = { ...requests[1]!, node: { ...a, providerID: 'openstack:///dhcp-1' }, destination: '10.244.98.0/24' };
  const results = await rig.routes.create([...requests, unknown, asDHCP], rig.call);
  assert.deepEqual(
    codesOf(results),
    [...requests, unknown, asDHCP].map(() => 'not-found'),
  );
  assert.deepEqual(rig.stored, []);
  for (const { id } of all) assert.deepEqual(ports.ports.get(id)?.allowed_address_pairs, []);
});

test('a provider ID of another provider leads to no server, whatever it ends with', async () => {
  await using rig = await FakeRouterRig.open();
  const [a, b] = [rig.addNode('a'), rig.addNode('b')];
  const request = (providerID: string, destination: string) => ({
    ...rig.request(a, destination),
    node: { ...b, providerID },
  });
  // What has lost its prefix is still this provider's.
  const results = await rig.routes.create(
    [
      request('rke2:///server-a', '10.244.1.0/24'),
      request('server-a', '10.244.2.0/24'),
      request('/server-a', '10.244.3.0/24'),
      request('openstack://elsewhere/server-a', '10.244.4.0/24'),
    ],
    rig.call,
  );
  assert.deepEqual(codesOf(results), ['not-found', 'not-found', 'done', 'done']);
  assert.deepEqual(rig.pairsOf('a'), ['10.244.3.0/24', '10.244.4.0/24']);
  const [foreign] = results;
  assert.ok(foreign?.kind === 'failed');
  assert.match(
    foreign.error.message,
    /^node b: the provider ID "rke2:\/\/\/server-a" is neither openstack:\/\/\/<id> nor/u,
  );
});

test('the port of a server of Ironic is its port', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const { ports } = rig.cloud.networking;
  ports.ports.change(rig.portOf('a').id, { device_owner: 'baremetal:none' });
  assert.deepEqual(codesOf(await rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call)), ['done']);
  assert.deepEqual(rig.pairsOf('a'), ['10.244.1.0/24']);
});

test('a node without a provider ID is told so, and not to attach a network', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const request = { ...rig.request(a, '10.244.1.0/24'), node: { ...a, providerID: undefined } };
  const [result] = await rig.routes.create([request], rig.call);
  assert.ok(result?.kind === 'failed' && isCloudError(result.error, 'not-found'));
  assert.match(result.error.message, /^node a has no provider ID/u);
  assert.doesNotMatch(result.error.message, /attach/u);
});

test('the subports of a server’s trunk are its ports, and no other node’s', async () => {
  await using rig = await FakeRouterRig.open();
  const [a, b] = [rig.addNode('a'), rig.addNode('b')];
  const { ports } = rig.cloud.networking;
  const { network, project } = rig.seeded;
  const subport = ports.add({ network_id: network.id, project_id: project.id, device_owner: 'trunk:subport' });
  const trunk = { trunk_details: { trunk_id: 't', sub_ports: [{ port_id: subport.id, segmentation_id: 7 }] } };
  ports.ports.change(rig.portOf('a').id, trunk as object);
  const addresses = [{ type: 'InternalIP', address: subport.fixed_ips[0]?.ip_address ?? '' }] as const;
  const request = { node: a, addresses, destination: '10.244.1.0/24' };
  assert.deepEqual(
    codesOf(await rig.routes.create([{ ...request, node: b, destination: '10.244.2.0/24' }, request], rig.call)),
    ['not-found', 'done'],
  );
  assert.deepEqual(
    ports.ports.get(subport.id)?.allowed_address_pairs.map((pair) => pair.ip_address),
    ['10.244.1.0/24'],
  );
  assert.deepEqual(rig.stored, [`10.244.1.0/24 via ${addresses[0].address}`]);
});

test('in a cloud without allowed-address-pairs no port is asked for, and halving finds the bad hops', async () => {
  await using rig = await FakeRouterRig.open({ without: ['allowed-address-pairs'] });
  const at = (address: string) => [{ type: 'InternalIP', address }] as const;
  const requests = Array.from({ length: 16 }, (_, i) => {
    const request = rig.request(rig.addNode(`n${i}`), `10.244.${i}.0/24`);
    return [3, 11].includes(i) ? { ...request, addresses: at('192.0.2.1') } : request;
  });
  rig.cloud.calls.reset();
  const results = codesOf(await rig.routes.create(requests, rig.call));
  assert.deepEqual(
    results,
    requests.map((_, i) => ([3, 11].includes(i) ? 'invalid' : 'done')),
  );
  const counts = rig.cloud.calls.counts();
  assert.deepEqual(Object.keys(counts), ['network GET /routers/{id}', 'network PUT /routers/{id}/add_extraroutes']);
  assert.equal(rig.stored.length, 14);
});

test('host bits of what others wrote are read as one range, and removed as they were written', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const hop = rig.addressesOf('a')[0]?.address ?? '';
  rig.addForeignRoute('10.244.1.7/24', hop);
  const { routes } = await rig.routes.list(rig.call);
  assert.deepEqual(routes, [
    {
      id: `10.244.1.7/24 via ${hop}`,
      destination: '10.244.1.0/24',
      nextHops: [hop],
      blackhole: false,
      ownership: 'unmarked',
    },
  ]);
  assert.deepEqual(codesOf(await rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call)), ['exists']);
  assert.deepEqual(codesOf(await rig.routes.delete(routes.map(owned), rig.call)), ['done']);
  assert.deepEqual([rig.stored, rig.pairsOf('a')], [[], []]);
});

test('of two spellings that lead to one port, the pair goes with the last', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  await rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call);
  rig.addForeignRoute('10.244.1.7/24', rig.addressesOf('a')[0]?.address ?? '');
  const { routes } = await rig.routes.list(rig.call);
  await rig.routes.delete(routes.slice(0, 1).map(owned), rig.call);
  assert.deepEqual(rig.pairsOf('a'), ['10.244.1.0/24']);
  await rig.routes.delete(routes.slice(1).map(owned), rig.call);
  assert.deepEqual(rig.pairsOf('a'), []);
});

test('where the address of a node moves on its port, the pair stays with the route that is left', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const { ports } = rig.cloud.networking;
  const [first] = rig.portOf('a').fixed_ips.filter(({ ip_address: ip }) => !ip.includes(':'));
  assert.ok(first);
  const second = { subnet_id: first.subnet_id, ip_address: '10.0.99.7' };
  ports.change(rig.portOf('a'), { fixed_ips: [...rig.portOf('a').fixed_ips, second] });
  const at = ({ ip_address: address }: { readonly ip_address: string }) => [{ type: 'InternalIP', address }] as const;
  const request = { node: a, addresses: at(first), destination: '10.244.1.0/24' };
  assert.deepEqual(codesOf(await rig.routes.create([request], rig.call)), ['done']);
  const { routes: replaces } = await rig.routes.list(rig.call);
  const moved = { ...request, addresses: at(second), replaces };
  assert.deepEqual(codesOf(await rig.routes.create([moved], rig.call)), ['done']);
  assert.deepEqual(codesOf(await rig.routes.delete(replaces.map(owned), rig.call)), ['done']);
  assert.deepEqual([rig.stored, rig.pairsOf('a')], [[`10.244.1.0/24 via 10.0.99.7`], ['10.244.1.0/24']]);
  const { routes: last } = await rig.routes.list(rig.call);
  await rig.routes.delete(last.map(owned), rig.call);
  assert.deepEqual([rig.stored, rig.pairsOf('a')], [[], []]);
});

test('a new hop is added beside the one that it replaces, and beside no other', async () => {
  await using rig = await FakeRouterRig.open();
  const a = rig.addNode('a');
  const request = rig.request(a, '10.244.1.0/24');
  rig.addForeignRoute('10.244.1.0/24', '10.0.9.9');
  assert.deepEqual(codesOf(await rig.routes.create([request], rig.call)), ['conflict']);
  const { routes: replaces } = await rig.routes.list(rig.call);
  assert.deepEqual(codesOf(await rig.routes.create([{ ...request, replaces }], rig.call)), ['done']);
  assert.equal(rig.stored.length, 2);
  rig.addForeignRoute('10.244.1.0/24', '10.0.9.10');
  const b = rig.addNode('b');
  const other = { ...rig.request(b, '10.244.1.0/24'), replaces };
  assert.deepEqual(codesOf(await rig.routes.create([other], rig.call)), ['conflict']);
});

test('what is not said to be ours is refused, and so is a router without extra routes', async () => {
  await using rig = await FakeRouterRig.open();
  rig.addForeignRoute('10.244.1.0/24', '10.0.9.9');
  const { routes } = await rig.routes.list(rig.call);
  rig.cloud.calls.reset();
  assert.deepEqual(codesOf(await rig.routes.delete(routes, rig.call)), ['not-owned']);
  assert.equal(rig.cloud.calls.all().length, 0);
  const { id: _, ...plain } = { id: rig.router.id, name: 'cluster' };
  rig.cloud.faults.set({ effect: 'status', status: 200, operation: 'GET /routers', body: { router: plain } });
  await assert.rejects(rig.routes.list(rig.call), (error) => isCloudError(error, 'unsupported'));
});

test('what cannot be done now fails all that is not done, without asking for each', async () => {
  await using rig = await FakeRouterRig.open();
  const requests = ['a', 'b', 'c'].map((name, i) => rig.request(rig.addNode(name), `10.244.${i}.0/24`));
  rig.cloud.faults.set({ effect: 'status', status: 503, operation: 'PUT /routers' });
  rig.cloud.calls.reset();
  assert.deepEqual(codesOf(await rig.routes.create(requests, rig.call)), ['unavailable', 'unavailable', 'unavailable']);
  assert.equal(rig.cloud.calls.counts()['network PUT /routers/{id}/add_extraroutes'], 1);
});

test('without extraroute-atomic, a router that somebody changes meanwhile is read again', async () => {
  await using rig = await FakeRouterRig.open({ without: ['extraroute-atomic'] });
  const [a, b] = [rig.addNode('a'), rig.addNode('b')];
  rig.cloud.faults.set({
    effect: 'run',
    operation: 'PUT /routers',
    times: 1,
    run: () => rig.addForeignRoute('10.9.0.0/24', '10.0.9.9'),
  });
  // Two at a time do not refuse one another.
  const both = await Promise.all([
    rig.routes.create([rig.request(a, '10.244.1.0/24')], rig.call),
    rig.routes.create([rig.request(b, '10.244.2.0/24')], rig.call),
  ]);
  assert.deepEqual(codesOf(both.flat()), ['done', 'done']);
  assert.equal(rig.stored.length, 3);
  assert.equal(rig.cloud.calls.all().filter(({ status }) => status === 412).length, 1);
  const { routes } = await rig.routes.list(rig.call);
  const ours = routes.filter(({ destination }) => destination !== '10.9.0.0/24').map(owned);
  assert.deepEqual(codesOf(await rig.routes.delete(ours, rig.call)), ['done', 'done']);
  assert.deepEqual(rig.stored, ['10.9.0.0/24 via 10.0.9.9']);
});
