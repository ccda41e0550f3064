import { strict as assert } from 'node:assert';
import { test, type TestContext } from 'node:test';
import type { Logger } from '@outrigger/cloud-provider';
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
    // What has it keeps it when the server is renamed, and what is renamed as the node is called gets it.
    const server = rig.cloud.compute.server(serverId);
    assert.ok(server);
    server.name = has ? 'renamed' : 'node-3';
    await rig.clock.sleep(700_000);
    await rig.bring(served(web, plan));
    assert.deepEqual(await groupsOf(rig, serverId), ['web']);
  });
}

test('a server is asked for its name once for many Services', async () => {
  const rig = await Rig.open({ loadBalancer: { manageSecurityGroups: true } });
  for (const name of ['a', 'b', 'c']) await rig.bring(serviceNamed(name));
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
