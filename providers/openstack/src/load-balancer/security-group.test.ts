// Over 400 lines: one rig, and one test for each way in which rules, ports and other writers of a security group can be in the way.
import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import { isCloudError, type Logger } from '@outrigger/cloud-provider';
import { portOf } from './desired/tree-inputs.suite.ts';
import type { WirePort, WireSecurityGroup } from './neutron-wire.ts';
import { callContext, Rig, served, serviceNamed } from './rig.suite.ts';

async function look(rig: Rig): Promise<{ groups: WireSecurityGroup[]; ports: WirePort[] }> {
  const all = Object.entries(await rig.everything());
  const of = <T>(kind: string): T[] => all.flatMap(([key, one]) => (key.startsWith(`${kind} `) ? [one as T] : []));
  return {
    groups: of<WireSecurityGroup>('security-groups').filter(({ name }) => name.startsWith('lb-sg-')),
    ports: of('ports'),
  };
}

const opened = ({ security_group_rules: rules = [] }: WireSecurityGroup): readonly string[] =>
  rules
    .filter(({ direction }) => direction === 'ingress')
    .map((rule) => `${rule.protocol} ${rule.port_range_min} ${rule.remote_ip_prefix}`)
    .toSorted();

test('one group a Service on the ports of its members, for its node ports; gone with it, and when the option is turned off', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web', {
    ports: [portOf(80), portOf(53, 'UDP')],
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 32_000,
  });
  const before = await rig.everything();
  const plan = await rig.bring(web);
  const { groups, ports } = await look(rig);
  const [group] = groups;
  assert.ok(group && groups.length === 1);
  assert.deepEqual(opened(group), ['tcp 30080 10.0.0.0/16', 'tcp 32000 10.0.0.0/16', 'udp 30053 10.0.0.0/16']);
  assert.equal(ports.filter((port) => port.security_groups.includes(group.id)).length, 2);

  const [node] = rig.backEnds;
  assert.ok(node);
  rig.backEnds = [node, rig.addNode('node-3')];
  await rig.bring({ ...served(web, plan), ports: [portOf(80)] });
  const later = await look(rig);
  assert.deepEqual(opened(later.groups[0]!), ['tcp 30080 10.0.0.0/16', 'tcp 32000 10.0.0.0/16']);
  const servers = later.ports.filter((port) => port.security_groups.includes(group.id)).map((port) => port.device_id);
  assert.deepEqual(
    new Set(servers),
    new Set(rig.backEnds.map((one) => one.node.providerID?.slice('openstack:///'.length))),
  );

  rig.config = { manageSecurityGroups: false };
  await rig.bring(served(web, plan));
  assert.deepEqual((await look(rig)).groups, []);
  rig.config = { manageSecurityGroups: true };
  await rig.bring(served(web, plan));
  rig.config = { manageSecurityGroups: false };
  await rig.bring(served(web, plan), false);
  const after = Object.keys(await rig.everything()).filter((key) => !key.startsWith('ports'));
  assert.deepEqual(
    after,
    Object.keys(before).filter((key) => !key.startsWith('ports')),
  );
});

test('a port that somebody changes in between keeps what they have written', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const { ports, securityGroups } = rig.cloud.networking;
  const theirs = securityGroups.addGroup(rig.seeded.project.id, 'theirs');
  const [port] = ports.ports.all().filter((one) => one.device_owner.startsWith('compute'));
  assert.ok(port);
  let meddled = 0;
  rig.cloud.faults.set({
    effect: 'run',
    service: 'network',
    operation: 'PUT /ports',
    when: ({ path: asked }) => asked.endsWith(port.id) && meddled === 0,
    run: () => {
      meddled++;
      ports.change(port, { security_groups: [...port.security_groups, theirs.id] });
    },
  });
  await rig.bring(serviceNamed('web'));
  const groups = (await look(rig)).ports.find(({ id }) => id === port.id)?.security_groups ?? [];
  assert.equal(meddled, 1);
  assert.ok(groups.includes(theirs.id) && groups.length === 3, JSON.stringify(groups));
});

test('many Services that want the same ports at once take turns: no pass fails, and no group is lost', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const services = Array.from({ length: 20 }, (_, i) => serviceNamed(`web-${i}`));
  await Promise.all(services.map((service) => rig.bring(service)));
  const { groups, ports } = await look(rig);
  const servers = rig.backEnds.map(({ node }) => node.providerID?.slice('openstack:///'.length));
  const members = ports.filter(({ device_id }) => servers.includes(device_id));
  assert.deepEqual([groups.length, members.length], [services.length, 2]);
  for (const { id } of groups) assert.ok(members.every((port) => port.security_groups.includes(id)));
  await Promise.all(services.map((service) => rig.bring(service, false)));
  assert.deepEqual((await look(rig)).groups, []);
});

test('a port without port security is left alone, and does not keep the Service from being served', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const [port] = (await look(rig)).ports;
  assert.ok(port);
  const body = { port: { security_groups: [], port_security_enabled: false } };
  await rig.client.request(callContext(), {
    service: 'network',
    operation: 'x',
    method: 'PUT',
    path: `/v2.0/ports/${port.id}`,
    body,
  });
  await rig.bring(serviceNamed('web'));
  assert.deepEqual((await look(rig)).ports.find(({ id }) => id === port.id)?.security_groups, []);
});

test('of many ports an action changes so few that its time is enough', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const before = await rig.everything();
  rig.backEnds = Array.from({ length: 45 }, (_, i) => rig.addNode(`many-${i}`));
  const web = serviceNamed('web');
  const service = served(web, await rig.bring(web));
  const { groups, ports } = await look(rig);
  assert.equal(ports.filter((port) => port.security_groups.includes(groups[0]?.id ?? '')).length, 45);
  const most = 20;
  const changesOfPorts = async (wanted: boolean): Promise<readonly number[]> => {
    const counts: number[] = [];
    rig.cloud.calls.reset();
    await rig.pass(rig.desired(service, wanted), () => {
      counts.push(putsOfPorts(rig));
      rig.cloud.calls.reset();
    });
    return [...counts, putsOfPorts(rig)].filter((count) => count > 0);
  };
  assert.deepEqual(await changesOfPorts(false), [most, most, 5]);
  const other = serviceNamed('other');
  for (let pass = 0; ; pass++) {
    const plan = rig.provider.plan(rig.desired(other), await rig.look(other));
    const summaries = plan.actions
      .map(({ summary = '' }) => summary)
      .filter((one) => one.startsWith('add the security'));
    if (summaries.length > 0) {
      assert.deepEqual(
        summaries.map((one) => Number(/\d+/.exec(one)?.[0])),
        [most, most, 5],
      );
      break;
    }
    assert.ok(pass < 40);
    await rig.pass(rig.desired(other));
    await rig.clock.sleep(1_000);
  }
  for (const one of [service, other]) await rig.bring(one, false);
  const left = Object.keys(await rig.everything()).filter((key) => !key.startsWith('ports'));
  assert.deepEqual(
    left,
    Object.keys(before).filter((key) => !key.startsWith('ports')),
  );
});

const putsOfPorts = (rig: Rig): number =>
  rig.cloud.calls.all().filter(({ operation }) => /^PUT .*\/ports\//.test(operation)).length;

for (const [what, called, has] of [
  ['is called as the node is', 'Node-3', true],
  ['is called as the node is, with a domain', 'node-3.example.com', true],
  ['is called as nova makes a host name of it', 'Node_3', true],
  ['is called otherwise', 'database', false],
  ['has a name that only begins as that of the node', 'node-33', false],
] as const) {
  test(`the port of a server that ${what}, by the provider ID of the node: ${has ? 'it gets the group' : 'it is left alone, and the log says so'}`, async (t) => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const { addresses, node } = rig.addNode(called);
    rig.backEnds = [...rig.backEnds, { addresses, node: { ...node, name: 'node-3' } }];
    const warnings = warningsOf(t, rig);
    const web = serviceNamed('web');
    const plan = await rig.bring(web);
    assert.ok(plan.complete);
    const serverId = node.providerID?.slice('openstack:///'.length) ?? '';
    assert.deepEqual(await groupsOf(rig, serverId), has ? ['web'] : []);
    const told = has ? [] : [{ node: 'node-3', server: serverId, serverName: called }];
    assert.deepEqual(warnings(), told);
    const events = plan.warnings ?? [];
    assert.deepEqual(
      events.map(({ reason }) => reason),
      has ? [] : ['NodePortsClosed'],
    );
    assert.equal(plan.againAfterMs, has ? undefined : 1_800_000);
    for (const { message } of events) {
      assert.match(message, /\bnode-3\b/u);
      for (const secret of [serverId, called]) assert.ok(!message.includes(secret), message);
    }
    // What has it keeps it when the server is renamed, and what is renamed as the node is called gets it.
    const server = rig.cloud.compute.server(serverId);
    assert.ok(server);
    server.name = has ? 'renamed' : 'node-3';
    await rig.clock.sleep(700_000);
    const later = await rig.bring(served(web, plan));
    assert.deepEqual([await groupsOf(rig, serverId), later.warnings], [['web'], []]);
  });
}

const long = `pool-${'a'.repeat(70)}`;
for (const [called, node, has] of [
  [long, long.slice(0, 63), true],
  [long, long, true],
  [long, long.slice(0, 62), false],
  ['web 1.x (prod)', 'web-1.x-prod', true],
  ['web 1.x (prod)', 'web-1-x-prod', true],
  ['worker.a', 'worker-a', true],
  ['worker.a', 'worker-a.example.com', true],
  ['-Node 3. ', 'node-3', true],
  ['node☃-3', 'node-3', true],
  ['nöde-3', 'nde-3', false],
  ['((', 'node-3', false],
] as const) {
  test(`the server ${called} ${has ? 'is' : 'is not'} that of a node ${node}`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const { addresses, node: ref } = rig.addNode(called);
    rig.backEnds = [{ addresses, node: { ...ref, name: node } }];
    const plan = await rig.bring(serviceNamed('web'));
    assert.deepEqual(
      [await groupsOf(rig, ref.providerID?.slice('openstack:///'.length) ?? ''), plan.warnings?.length],
      has ? [['web'], 0] : [[], 1],
    );
  });
}

test('the host name that nova gives a server counts beside its name', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const { addresses, node } = rig.addNode('database');
  rig.backEnds = [{ addresses, node: { ...node, name: 'node-3' } }];
  const id = node.providerID?.slice('openstack:///'.length) ?? '';
  rig.cloud.faults.set({
    effect: 'status',
    status: 200,
    operation: 'GET /servers/',
    // Nova shows it from here on.
    when: ({ headers }) => headers['openstack-api-version'] === 'compute 2.90',
    body: { server: { id, name: 'database', status: 'ACTIVE', 'OS-EXT-SRV-ATTR:hostname': 'node-3' } },
  });
  assert.deepEqual((await rig.bring(serviceNamed('web'))).warnings, []);
  assert.deepEqual(await groupsOf(rig, id), ['web']);
});

test('of many nodes whose servers have other names the Service names the first, and how many more there are', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  rig.backEnds = Array.from({ length: 12 }, (_, i) => {
    const one = rig.addNode(`server-${i}`);
    return { ...one, node: { ...one.node, name: `node-${i}` } };
  });
  const { warnings = [] } = await rig.bring(serviceNamed('web'));
  assert.equal(warnings.length, 1);
  assert.match(warnings[0]?.message ?? '', /node-0, node-1, node-2 and 9 more/u);
});

/** How many ports have the group of the one Service. */
async function attached(rig: Rig): Promise<number> {
  const { groups, ports } = await look(rig);
  return ports.filter((port) => port.security_groups.includes(groups[0]?.id ?? '')).length;
}

function lose({ cloud: { compute } }: Rig, { node }: Rig['backEnds'][number]): void {
  const server = compute.server(node.providerID?.slice('openstack:///'.length) ?? '');
  assert.ok(server);
  server.cell = 'lost';
  compute.loseCell('lost');
}

for (const [status, code] of [
  [503, 'unavailable'],
  [500, 'unavailable'],
  [403, 'forbidden'],
] as const) {
  test(`while nova tells of no server (${status}) no port gets the group, and it is asked again at once`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    rig.backEnds = Array.from({ length: 10 }, (_, i) => rig.addNode(`many-${i}`));
    rig.cloud.faults.set({ effect: 'status', status, operation: 'GET /servers/' });
    const web = serviceNamed('web');
    await assert.rejects(rig.bring(web), (error: unknown) => {
      assert.ok(isCloudError(error, code), String(error));
      if (code === 'forbidden') assert.match(error.message, /node many-\d.*os_compute_api:servers:show/u);
      return true;
    });
    assert.equal(await attached(rig), 0);
    rig.cloud.faults.set();
    const plan = await rig.bring(web);
    assert.deepEqual([plan.complete, plan.warnings, await attached(rig)], [true, [], 10]);
  });
}

for (const [what, status] of [
  ['whose cell is lost', undefined],
  ['over which nova itself fails', 500],
] as const) {
  test(`a server ${what} keeps no Service from its address: its own port stays closed for now`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    rig.backEnds = Array.from({ length: 10 }, (_, i) => rig.addNode(`many-${i}`));
    const bad = rig.backEnds[3];
    assert.ok(bad);
    const { providerID = '' } = bad.node;
    if (status === undefined) lose(rig, bad);
    else {
      const when = ({ path }: { readonly path: string }): boolean => providerID.endsWith(path.split('/').at(-1) ?? '');
      rig.cloud.faults.set({ effect: 'status', status, operation: 'GET /servers/', when });
    }
    const web = serviceNamed('web');
    const plan = await rig.bring(web);
    assert.deepEqual([plan.complete, plan.ingress.length, await attached(rig)], [true, 1, 9]);
    assert.deepEqual(
      plan.warnings?.map(({ reason }) => reason),
      ['NodePortsClosed'],
    );
    assert.match(plan.warnings?.[0]?.message ?? '', /ports of many-3: nova does not say/u);
    // It is the only one that is asked about again, and it holds up no change.
    await rig.clock.sleep(61_000);
    rig.cloud.calls.reset();
    assert.deepEqual((await rig.bring(served(web, plan))).warnings, plan.warnings);
    const asked = (): number =>
      rig.cloud.calls.all().filter(({ operation }) => operation.startsWith('GET /servers/')).length;
    assert.ok(asked() > 0);
    rig.cloud.faults.set();
    rig.cloud.compute.restoreCell('lost');
    const before = asked();
    await rig.bring(served(web, plan));
    assert.equal(asked(), before, 'not at once');
    await rig.clock.sleep(61_000);
    assert.deepEqual([(await rig.bring(served(web, plan))).warnings, await attached(rig)], [[], 10]);
  });
}

/** Nodes in a lost cell, each read of which takes so long; a look at the servers' names alone is counted. */
async function inLostCell(count: number, readMs: number): Promise<{ rig: Rig; reads: () => number }> {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  rig.backEnds = Array.from({ length: count }, (_, i) => rig.addNode(`many-${i}`));
  for (const one of rig.backEnds) lose(rig, one);
  let reads = 0;
  rig.cloud.faults.set({
    effect: 'run',
    operation: 'GET /servers/',
    run: () => {
      reads++;
      void rig.clock.sleep(readMs);
    },
  });
  return { rig, reads: () => reads };
}

test('nodes of a lost cell that take longer to ask about than is believed keep no Service from its address', async () => {
  const { rig, reads } = await inLostCell(260, 300);
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  assert.deepEqual([plan.complete, plan.ingress.length], [true, 1]);
  assert.match(plan.warnings?.[0]?.message ?? '', / and 257 more: nova does not say/u);
  assert.ok(reads() <= 2 * 260, `${reads()} reads`);
  // None of them is believed for long: once the cell is back, all get the group.
  rig.cloud.faults.set();
  rig.cloud.compute.restoreCell('lost');
  await rig.clock.sleep(61_000);
  assert.deepEqual([(await rig.bring(served(web, plan))).warnings, await attached(rig)], [[], 260]);
});

test('Services share what nova does not say of a server, for a minute', async () => {
  const { rig, reads } = await inLostCell(100, 10);
  for (let i = 0; i < 10; i++) await rig.bring(serviceNamed(`web-${i}`));
  const asked = reads();
  assert.ok(asked <= 2 * 100, `${asked} reads`);
  await rig.clock.sleep(61_000);
  await rig.bring(serviceNamed('later'));
  assert.ok(reads() > asked, 'asked again after that');
});

test('servers that are called otherwise, and those of which nova does not say it, are told apart', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const other = rig.addNode('database');
  const lost = rig.addNode('lost');
  rig.backEnds = [{ ...other, node: { ...other.node, name: 'other' } }, lost];
  lose(rig, lost);
  const { warnings = [] } = await rig.bring(serviceNamed('web'));
  assert.deepEqual(
    warnings.map(({ message }) => /ports of (.*?): nova (\S+ \S+)/u.exec(message)?.slice(1)),
    [
      ['other', 'has no'],
      ['lost', 'does not'],
    ],
  );
});

for (const [what, hit] of [
  ['servers of a lost cell', lose],
  ['ports that Neutron does not change', undefined],
] as const) {
  test(`more ${what} than an action takes keep the group from no other port`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const addressOf = ({ addresses: [one] }: Rig['backEnds'][number]): string => one?.address ?? '';
    const nodes = Array.from({ length: 45 }, (_, i) => rig.addNode(`many-${i}`));
    rig.backEnds = nodes.toSorted((a, b) => (addressOf(a) < addressOf(b) ? -1 : 1));
    const bad = rig.backEnds.slice(0, 20);
    for (const one of bad) hit?.(rig, one);
    const web = serviceNamed('web');
    if (hit) {
      const { warnings = [] } = await rig.bring(web);
      assert.match(warnings[0]?.message ?? '', / and 17 more: nova does not say/u);
    } else {
      const servers = new Set(bad.map(({ node }) => node.providerID?.slice('openstack:///'.length)));
      const refused = (await look(rig)).ports.filter(({ device_id: id }) => servers.has(id)).map(({ id }) => id);
      const when = ({ path }: { readonly path: string }): boolean => refused.some((id) => path.endsWith(id));
      rig.cloud.faults.set({ effect: 'status', status: 500, operation: 'PUT /ports', when });
      for (let i = 0; i < 2; i++)
        await assert.rejects(rig.bring(web), (error: unknown) => isCloudError(error, 'unavailable'));
    }
    assert.equal(await attached(rig), 25);
    rig.cloud.faults.set();
    rig.cloud.compute.restoreCell('lost');
    await rig.clock.sleep(61_000);
    assert.deepEqual([(await rig.bring(web)).warnings, await attached(rig)], [[], 45]);
  });
}

for (const [what, others] of [
  ['beside others, and the Service is served', 2],
  ['and is the only one: it is asked again at once', 0],
] as const) {
  test(`while nova does not answer, the port of a node that was left closed stays so, ${what}`, async () => {
    const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
    const { addresses, node } = rig.addNode('database');
    rig.backEnds = [...rig.backEnds.slice(0, others), { addresses, node: { ...node, name: 'node-3' } }];
    const web = serviceNamed('web');
    const plan = await rig.bring(web);
    assert.deepEqual([plan.complete, plan.againAfterMs, await attached(rig)], [true, 1_800_000, others]);
    for (const status of [503, 429, 408]) {
      await rig.clock.sleep(1_800_000);
      rig.cloud.faults.set({ effect: 'status', status, operation: 'GET /servers/' });
      const later = rig.bring(served(web, plan));
      if (others === 0) {
        await assert.rejects(later, isCloudError);
        continue;
      }
      const { againAfterMs, complete, warnings } = await later;
      assert.deepEqual([complete, againAfterMs, warnings?.length], [true, 1_800_000, 1], String(status));
      assert.match(warnings?.[0]?.message ?? '', /ports of node-3: nova does not say/u);
    }
    const server = rig.cloud.compute.server(node.providerID?.slice('openstack:///'.length) ?? '');
    assert.ok(server);
    server.name = 'node-3';
    rig.cloud.faults.set();
    await rig.clock.sleep(61_000);
    assert.deepEqual([(await rig.bring(served(web, plan))).warnings, await attached(rig)], [[], others + 1]);
  });
}

test('while nova does not answer, a node that has come is asked about again at once, whichever was left closed', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const other = rig.addNode('database');
  rig.backEnds = [...rig.backEnds, { ...other, node: { ...other.node, name: 'other' } }];
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  await rig.clock.sleep(1_800_000);
  rig.backEnds = [...rig.backEnds, rig.addNode('node-3')];
  rig.cloud.faults.set({ effect: 'status', status: 503, operation: 'GET /servers/' });
  await assert.rejects(rig.bring(served(web, plan)), (error: unknown) => isCloudError(error, 'unavailable'));
});

/** Another group of this Service, as a lost answer makes one; after the first in the order of their IDs. */
function twinOf({ cloud: { networking } }: Rig, { id: first }: WireSecurityGroup): string {
  const { groups } = networking.securityGroups;
  const group = groups.get(first);
  assert.ok(group);
  const id = `f${first.slice(1)}`;
  assert.ok(first < id);
  groups.add({ ...group, id });
  return id;
}

test('while nova tells of no server the group leaves the ports that it is not for, and a twin of it goes', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const { groups } = await look(rig);
  const twin = twinOf(rig, groups[0]!);
  const [left, gone] = rig.backEnds;
  assert.ok(left && gone);
  rig.backEnds = [left, rig.addNode('node-3')];
  rig.cloud.faults.set({ effect: 'status', status: 503, operation: 'GET /servers/' });
  await assert.rejects(rig.bring(served(web, plan)), (error: unknown) => isCloudError(error, 'unavailable'));
  assert.deepEqual(await groupsOf(rig, gone.node.providerID?.slice('openstack:///'.length) ?? ''), []);
  assert.ok(!(await look(rig)).groups.some(({ id }) => id === twin));
});

test('a twin of the group that opens the port of a member goes after the group is there', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const web = serviceNamed('web');
  const plan = await rig.bring(web);
  const { groups, ports } = await look(rig);
  const twin = twinOf(rig, groups[0]!);
  for (const { id, security_groups: had } of ports) {
    const port = rig.cloud.networking.ports.ports.get(id);
    assert.ok(port);
    rig.cloud.networking.ports.change(port, {
      security_groups: had.map((one) => (one === groups[0]?.id ? twin : one)),
    });
  }
  await rig.clock.sleep(700_000);
  rig.cloud.faults.set({ effect: 'status', status: 503, operation: 'GET /servers/' });
  await assert.rejects(rig.bring(served(web, plan)), (error: unknown) => isCloudError(error, 'unavailable'));
  const opened = async (): Promise<number> =>
    (await look(rig)).ports.filter(({ security_groups: has }) => has.includes(twin)).length;
  assert.equal(await opened(), 2);
  rig.cloud.faults.set();
  await rig.bring(served(web, plan));
  assert.deepEqual([await opened(), await attached(rig), (await look(rig)).groups.length], [0, 2, 1]);
});

test('a server of which nova never answers holds no other port up', async (t) => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  rig.backEnds = Array.from({ length: 10 }, (_, i) => rig.addNode(`many-${i}`));
  const bad = rig.backEnds[3]?.node.providerID?.slice('openstack:///'.length) ?? '';
  const web = serviceNamed('web');
  const aborting = new AbortController();
  const apply = rig.provider.apply.bind(rig.provider);
  t.mock.method(rig.provider, 'apply', (...[action, desired, call]: Parameters<typeof apply>) => {
    const { signal } = aborting;
    return apply(action, desired, { ...call, signal, call: (_operation, send) => send(signal) });
  });
  rig.cloud.faults.set({ effect: 'hang', operation: 'GET /servers/', when: ({ path }) => path.endsWith(bad) });
  const brought = assert.rejects(rig.bring(web));
  const puts = (): number => putsOfPorts(rig);
  for (let turn = 0; turn < 1_000 && puts() < 9; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(puts(), 9);
  aborting.abort();
  await brought;
});

test('a server is asked for its name once for many Services', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  // A port of two addresses is of one server too.
  rig.backEnds = rig.backEnds.map((one) => {
    const ports = rig.cloud.networking.ports.ports.where('device_id', one.node.providerID?.split('/').at(-1) ?? '');
    const addresses = ports.flatMap(({ fixed_ips: ips }) => ips.map(({ ip_address: address }) => address));
    return { ...one, addresses: addresses.map((address) => ({ type: 'InternalIP', address }) as const) };
  });
  const ports = [portOf(53, 'UDP')];
  const both = { ipFamilies: ['IPv4', 'IPv6'], ipFamilyPolicy: 'RequireDualStack', ports } as const;
  for (const name of ['a', 'b', 'c']) await rig.bring(serviceNamed(name, both));
  const reads = Object.entries(rig.cloud.calls.counts()).filter(([name]) => name.startsWith('compute GET /servers/'));
  assert.deepEqual(
    reads.map(([, count]) => count),
    [2],
  );
});

/** The fields of what actions warn of, without what is to be done. */
function warningsOf(t: TestContext, { provider }: Rig): () => readonly unknown[] {
  const told: unknown[] = [];
  const apply = provider.apply.bind(provider);
  const warn: Logger['warn'] = (_text, { next, ...fields } = {}) => {
    assert.ok(next);
    told.push(fields);
  };
  t.mock.method(provider, 'apply', (...[action, desired, call]: Parameters<typeof apply>) =>
    apply(action, desired, { ...call, logger: { ...call.logger, warn } }),
  );
  return () => told;
}

/** The Services whose groups the port of this server has. */
async function groupsOf(rig: Rig, serverId: string): Promise<readonly string[]> {
  const { groups, ports } = await look(rig);
  const port = ports.find((one) => one.device_id === serverId);
  return groups.filter(({ id }) => port?.security_groups.includes(id)).map(({ name }) => name.split('-').at(-1) ?? '');
}

/** A second subnet of the nodes' network. */
function otherSubnet({ cloud: { networking }, seeded }: Rig): { readonly id: string } {
  const network = networking.networks.networks.get(seeded.network.id) ?? assert.fail();
  return networking.networks.addSubnet(network, { name: 'other', cidr: '10.66.0.0/24' });
}

test('another subnet for members is that of those to come: the rules are of all subnets in which members lie', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true, providerRequiresSerialApiCalls: true } });
  const web = serviceNamed('web');
  const was = served(web, await rig.bring(web));
  const before = opened((await look(rig)).groups[0]!);
  rig.config = { ...rig.config, memberSubnetId: otherSubnet(rig).id };
  assert.ok((await rig.bring(was)).complete);
  assert.deepEqual(opened((await look(rig)).groups[0]!), before);
  const added = rig.addNode('node-3');
  rig.backEnds = [...rig.backEnds, added];
  await rig.bring(was);
  assert.deepEqual(opened((await look(rig)).groups[0]!), [...before, 'tcp 30080 10.66.0.0/24']);
  rig.backEnds = [added];
  await rig.bring(was);
  assert.deepEqual(opened((await look(rig)).groups[0]!), ['tcp 30080 10.66.0.0/24']);
});

test('where the subnet of members is gone, the rules of ports that are open stay, and the Service can go', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  const before = Object.keys(await rig.everything());
  const other = otherSubnet(rig);
  rig.config = { ...rig.config, memberSubnetId: other.id };
  const web = serviceNamed('web', { ports: [portOf(80), portOf(81)] });
  const was = served(web, await rig.bring(web));
  rig.cloud.networking.networks.subnets.remove(other.id);
  const restarted = await rig.restarted();
  assert.ok((await restarted.bring({ ...was, ports: [portOf(80)] })).complete);
  assert.deepEqual(opened((await look(rig)).groups[0]!), ['tcp 30080 10.66.0.0/24']);
  await restarted.bring(was, false);
  assert.deepEqual(Object.keys(await rig.everything()), before);
});

test('a range that Neutron writes in another way than it was given is the same range', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true, lbProvider: 'ovn' } });
  rig.cloud.octavia.settings.providers = ['ovn'];
  rig.backEnds = rig.backEnds.map((one) => {
    const [port] = rig.cloud.networking.ports.ports.where('device_id', one.node.providerID?.split('/').at(-1) ?? '');
    const addresses = port?.fixed_ips.map(({ ip_address: address }) => ({ type: 'InternalIP', address }) as const);
    return { ...one, addresses: addresses ?? [] };
  });
  const sourceRanges = ['::102:300/120', '2001:db8::/32'];
  const web = serviceNamed('web', { ipFamilies: ['IPv6'], sourceRanges });
  const was = served(web, await rig.bring(web));
  assert.deepEqual(opened((await look(rig)).groups[0]!), ['tcp 30080 2001:db8::/32', 'tcp 30080 ::1.2.3.0/120']);
  rig.cloud.calls.reset();
  assert.ok((await rig.bring(was)).complete);
  assert.ok(rig.cloud.calls.all().every(({ operation }) => operation.startsWith('GET')));
});
