/** Classes, flavors, zones, and what else annotations and the cloud config ask of a load balancer, on a real Octavia. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { resources, type Service } from '@outrigger/kube';
import { annotated, asking, INTERNAL, openFeatureLab, portOf } from './feature-lab.ts';
import { idOf } from './lab-machines.ts';
import { openLab, type Lab } from './lab.ts';
import type { OctaviaTree } from './octavia-tree.ts';
import type { LabIds } from './openstack-cluster.ts';

const EDGE = 'example.com/edge';

interface Thing {
  readonly id: string;
  readonly name: string;
}

interface Elsewhere extends AsyncDisposable {
  readonly network: string;
  readonly subnet: string;
  /** A port of it, for a VIP. */
  readonly port: { readonly id: string; readonly address: string };
}

/** A second network of the project, 10.30.0.0/24, behind the same router. */
async function makeElsewhere({ user }: Lab): Promise<Elsewhere> {
  const make = async <T extends Thing>(kind: string, key: string, body: object): Promise<T> => {
    const answer = await user.request<Record<string, T>>('network', 'POST', `/${kind}`, { body: { [key]: body } });
    return answer[key] ?? assert.fail(`no ${key}`);
  };
  const router = idOf(await user.list<Thing>('network', '/routers'), 'nodes');
  const network = await make('networks', 'network', { name: 'elsewhere' });
  const subnet = await make('subnets', 'subnet', { network_id: network.id, ip_version: 4, cidr: '10.30.0.0/24' });
  const body = { subnet_id: subnet.id };
  await user.request('network', 'PUT', `/routers/${router}/add_router_interface`, { body });
  type Port = Thing & { readonly fixed_ips: readonly { readonly ip_address: string }[] };
  // Octavia puts its own security group in the place of those that a VIP's port has, and leaves none when it goes (seen on Zed).
  const port = await make<Port>('ports', 'port', { name: 'by-hand', network_id: network.id, security_groups: [] });
  return {
    network: network.id,
    subnet: subnet.id,
    port: { id: port.id, address: port.fixed_ips[0]?.ip_address ?? '' },
    [Symbol.asyncDispose]: async () => {
      await user.request('network', 'DELETE', `/ports/${port.id}`);
      await user.request('network', 'PUT', `/routers/${router}/remove_router_interface`, { body });
      await user.request('network', 'DELETE', `/networks/${network.id}`);
    },
  };
}

test('options of load balancers on a real Octavia', async (t) => {
  const open = await openLab();
  const [flavor] = await open.user.list<Thing>('load-balancer', '/flavors');
  assert.ok(flavor);
  await using elsewhere = await makeElsewhere(open);
  const config =
    (more: string) =>
    ({ nodes, outside }: LabIds): string =>
      `[LoadBalancer]
floating-network-id=${outside}
network-id=${nodes}
allow-all-named-resources=true
flavor-id=${flavor.id}
availability-zone=az-1
enable-ingress-hostname=true
${more}
[LoadBalancerClass "b"]
floating-subnet=outside-b
[LoadBalancerClass "tagged"]
floating-subnet-tags=&public,b
[LoadBalancerClass "elsewhere"]
subnet-id=${elsewhere.subnet}
`;
  const lab = await openFeatureLab(t, ['lab-edge-1', 'lab-plain-2'], { config: config('') });
  if (!lab) return;
  const { cluster, nodes, nothingIsLeft, services, untilTold } = lab;
  const { ids } = cluster;
  const { user } = cluster.lab;
  const [edge] = nodes;
  assert.ok(edge);
  await cluster.client
    .of(resources.nodes)
    .patch({ name: edge.server.name }, { type: 'merge', body: { metadata: { labels: { [EDGE]: 'true' } } } });

  /** All at once; then each is compared; then all go, and nothing is left. */
  const wave = async (cases: readonly (readonly [Service, (tree: OctaviaTree, ingress: string) => unknown])[]) => {
    await Promise.all(cases.map(([service]) => services.create(service)));
    for (const [{ metadata }, check] of cases) {
      const name = metadata?.name ?? '';
      await t.test(name, async () => {
        const [ingress = ''] = await services.untilServed(name);
        await check(await services.untilActive(name), ingress);
      });
    }
  };
  const deleted = async (...names: readonly string[]): Promise<void> => {
    await services.delete(...names);
    await nothingIsLeft();
  };
  /** What the members say of this attribute, each answer once. */
  const ofMembers = async (attribute: string, tree: OctaviaTree): Promise<readonly unknown[]> => {
    const pools = await user.list<Thing>('load-balancer', `/pools?loadbalancer_id=${tree.id}`);
    const members = await Promise.all(pools.map(({ id }) => user.list('load-balancer', `/pools/${id}/members`)));
    return [...new Set(members.flat().map((member) => member[attribute]))];
  };
  /** Until each pool has the monitor, or none, and each member is asked at the port. */
  const untilMonitored = (name: string, monitor: RegExp | undefined, port: number | null): Promise<void> =>
    cluster.until(`${name} has ${monitor ? `a monitor ${monitor} at ${port}` : 'no monitor'}`, async () => {
      const tree = await services.untilActive(name);
      const isSo = tree.listeners.every(({ pool }) => monitor?.test(pool?.monitor ?? '') ?? !pool?.monitor);
      const ports = await ofMembers('monitor_port', tree);
      return isSo && ports.length === 1 && ports[0] === port;
    });
  const healthPortOf = async (name: string): Promise<number> =>
    (await services.get(name)).spec?.healthCheckNodePort ?? assert.fail(`${name} has no port for its health`);

  await services.create(asking('unknown-class', annotated({ class: 'c' })));
  await wave([
    [
      asking('class-subnet', annotated({ class: 'b' })),
      (tree, ingress) => {
        assert.match(ingress, /^198\.51\.100\./u);
        assert.deepEqual([tree.floatingIP, tree.flavorId, tree.availabilityZone], [ingress, flavor.id, 'az-1']);
      },
    ],
    [
      // The class goes before the annotation.
      asking('class-tags', annotated({ class: 'tagged', 'floating-subnet': 'outside-a' })),
      (_, ingress) => assert.match(ingress, /^198\.51\.100\./u),
    ],
    [
      asking('class-elsewhere', annotated({ class: 'elsewhere', 'member-subnet-id': ids.subnet })),
      async (tree, ingress) => {
        assert.match(tree.vip, /^10\.30\./u);
        assert.equal(tree.floatingIP, ingress);
        assert.deepEqual(await ofMembers('subnet_id', tree), [ids.subnet]);
      },
    ],
    [
      asking('subnet-id', { ...INTERNAL, ...annotated({ 'subnet-id': elsewhere.subnet }) }),
      (tree, ingress) => assert.deepEqual([tree.vip, tree.vipSubnetId], [ingress, elsewhere.subnet]),
    ],
    [
      asking('network-id', { ...INTERNAL, ...annotated({ 'network-id': elsewhere.network }) }),
      (tree, ingress) => assert.deepEqual([tree.vip, tree.vipSubnetId], [ingress, elsewhere.subnet]),
    ],
    [
      asking('port-id', annotated({ 'port-id': elsewhere.port.id })),
      (tree, ingress) => {
        assert.deepEqual([tree.vip, tree.vipPortId], [elsewhere.port.address, elsewhere.port.id]);
        assert.equal(tree.floatingIP, ingress);
      },
    ],
    [
      asking('node-selector', annotated({ 'node-selector': `${EDGE}=true` })),
      (tree) => {
        const members = tree.listeners[0]?.pool?.members.map((member) => member.split(':')[0]);
        assert.deepEqual(members, [edge.addresses.IPv4]);
      },
    ],
  ]);
  await t.test('a class that the cloud config lacks is refused', () =>
    untilTold('unknown-class', /has no such class \(it has: b, elsewhere, tagged\)/u),
  );
  await t.test('deleted, and nothing of them is left; the port by hand is', () =>
    deleted(
      'unknown-class',
      'class-subnet',
      'class-tags',
      'class-elsewhere',
      'subnet-id',
      'network-id',
      'port-id',
      'node-selector',
    ),
  );

  await wave([
    [
      asking(
        'tuned',
        annotated({
          'timeout-member-connect': '4000',
          'timeout-member-data': '52000',
          'timeout-tcp-inspect': '30',
          'enable-health-monitor': 'true',
          'health-monitor-delay': '7',
          'health-monitor-timeout': '4',
          'health-monitor-max-retries': '2',
          'health-monitor-max-retries-down': '5',
        }),
        { externalTrafficPolicy: 'Local' },
      ),
      async ({ id }) => {
        const [listener] = await user.list('load-balancer', `/listeners?loadbalancer_id=${id}`);
        assert.partialDeepStrictEqual(listener, {
          timeout_member_connect: 4_000,
          timeout_member_data: 52_000,
          timeout_tcp_inspect: 30,
        });
        const [monitor] = await user.list('load-balancer', '/healthmonitors');
        assert.partialDeepStrictEqual(monitor, { delay: 7, timeout: 4, max_retries: 2, max_retries_down: 5 });
      },
    ],
    [
      asking('proxy-v2', annotated({ 'proxy-protocol': 'v2' })),
      ({ floatingIP, listeners }, ingress) => {
        assert.deepEqual([listeners[0]?.at, listeners[0]?.pool?.protocol], ['TCP 80', 'PROXYV2']);
        assert.equal(ingress, `${floatingIP}.nip.io`, 'enable-ingress-hostname');
      },
    ],
    [
      asking('proxy-v1', annotated({ 'proxy-protocol': 'v1' }), { ports: [portOf(80), portOf(443)] }),
      ({ listeners }) =>
        assert.deepEqual(
          listeners.map(({ pool }) => pool?.protocol),
          ['PROXY', 'PROXY'],
        ),
    ],
    [
      asking('subnet-by-id', {
        ...annotated({
          'floating-network-id': ids.outside,
          'floating-subnet-id': idOf(await user.list<Thing>('network', '/subnets'), 'outside-b'),
        }),
      }),
      (_, ingress) => assert.match(ingress, /^198\.51\.100\./u),
    ],
    [
      asking('subnet-pattern', annotated({ 'floating-subnet': '~^outside-[b-z]$' })),
      (_, ingress) => assert.match(ingress, /^198\.51\.100\./u),
    ],
    [
      asking('not-subnet', annotated({ 'floating-subnet': '!outside-b' })),
      (_, ingress) => assert.match(ingress, /^203\.0\.113\./u),
    ],
    [
      // An empty text undoes what the config says.
      asking('undone', annotated({ 'flavor-id': '', 'availability-zone': 'az-2', 'lb-method': 'SOURCE_IP' })),
      ({ availabilityZone, flavorId, listeners }) => {
        assert.deepEqual([flavorId, availabilityZone], [null, 'az-2']);
        assert.equal(listeners[0]?.pool?.algorithm, 'SOURCE_IP');
      },
    ],
    [
      // Both VIPs are part of the one POST, and all that hangs below.
      asking(
        'two-vips',
        {},
        {
          ipFamilyPolicy: 'RequireDualStack',
          ipFamilies: ['IPv4', 'IPv6'],
          ports: [portOf(80), portOf(53, 'UDP')],
        },
      ),
      async ({ additionalVips, listeners, vip }) => {
        assert.match(vip, /^10\.20\./u);
        assert.match(additionalVips.join(), /^fd20:[^,]*$/u);
        const [http, dns] = (await services.get('two-vips')).spec?.ports ?? [];
        const membersAt = (family: 'IPv4' | 'IPv6', nodePort = 0): readonly string[] =>
          nodes.map(({ addresses }) => `${addresses[family]}:${nodePort}`);
        assert.deepEqual(
          listeners.map(({ pool }) => pool?.members),
          [
            membersAt('IPv4', http?.nodePort).toSorted(),
            [...membersAt('IPv4', dns?.nodePort), ...membersAt('IPv6', dns?.nodePort)].toSorted(),
          ],
        );
      },
    ],
  ]);
  await t.test('changed live: the PROXY version, the method, the limit', async () => {
    const before = await services.untilActive('proxy-v1');
    const annotations = annotated({
      'proxy-protocol': 'v2',
      'lb-method': 'LEAST_CONNECTIONS',
      'connection-limit': '99',
    });
    await services.patch('proxy-v1', { metadata: { annotations } });
    await cluster.until('all of it is as asked', async () => {
      const { listeners } = await services.untilActive('proxy-v1');
      return listeners.every(
        ({ connectionLimit, pool }) =>
          connectionLimit === 99 && pool?.protocol === 'PROXYV2' && pool.algorithm === 'LEAST_CONNECTIONS',
      );
    });
    const after = await services.untilActive('proxy-v1');
    assert.deepEqual([after.id, after.floatingIP, after.vip], [before.id, before.floatingIP, before.vip]);
  });
  await t.test(
    'the monitor asks at the health check’s port, and with externalTrafficPolicy: Cluster at the members’ own again',
    async () => {
      await untilMonitored('tuned', /^HTTP/u, await healthPortOf('tuned'));
      await services.patch('tuned', { spec: { externalTrafficPolicy: 'Cluster' } });
      await untilMonitored('tuned', /^TCP$/u, null);
    },
  );
  await t.test('deleted, and nothing of these is left', () =>
    deleted('tuned', 'proxy-v2', 'proxy-v1', 'subnet-by-id', 'subnet-pattern', 'not-subnet', 'undone', 'two-vips'),
  );

  await t.test('one call for each thing, no cascade, and defaults of the cloud config', async (t) => {
    await cluster.manager.end('SIGTERM');
    const more = [
      'provider-requires-serial-api-calls=true',
      'cascade-delete=false',
      'create-monitor=true',
      'monitor-delay=8s',
      'lb-method=LEAST_CONNECTIONS',
      'internal-lb=true',
    ];
    await cluster.configure({ config: config(more.join('\n')) });
    cluster.manager.start();
    await services.create(asking('serial', {}, { ports: [portOf(80), portOf(53, 'UDP')] }));
    await services.create(asking('unmonitored', annotated({ 'enable-health-monitor': 'false' })));
    await t.test('serial', async () => {
      const [ingress] = await services.untilServed('serial');
      const tree = await services.untilActive('serial');
      assert.deepEqual([tree.floatingIP, tree.vip], [undefined, ingress]);
      assert.deepEqual(
        tree.listeners.map(({ at, pool }) => [at, pool?.algorithm, pool?.monitor]),
        [
          ['TCP 80', 'LEAST_CONNECTIONS', 'TCP'],
          ['UDP 53', 'LEAST_CONNECTIONS', 'UDP-CONNECT'],
        ],
      );
      const monitors = await user.list<{ readonly delay: number }>('load-balancer', '/healthmonitors');
      assert.deepEqual(
        monitors.map(({ delay }) => delay),
        [8, 8],
      );
    });
    await t.test('the monitor asks at the health check’s port; when it goes, no member keeps that', async () => {
      await services.patch('serial', { spec: { externalTrafficPolicy: 'Local' } });
      await untilMonitored('serial', /^HTTP/u, await healthPortOf('serial'));
      const annotations = annotated({ 'enable-health-monitor': 'false' });
      await services.patch('serial', { metadata: { annotations } });
      await untilMonitored('serial', undefined, null);
    });
    await t.test('unmonitored', async () => {
      await services.untilServed('unmonitored');
      const { listeners } = await services.untilActive('unmonitored');
      assert.deepEqual(
        listeners.map(({ pool }) => pool?.monitor),
        [undefined],
      );
    });
    await deleted('serial', 'unmonitored');
  });
});
