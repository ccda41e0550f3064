/** `manage-security-groups` on a real Neutron: what is let in, on which ports, and that all of it goes. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { resources } from '@outrigger/kube';
import { annotated, asking, openFeatureLab, portOf, type FeatureLab } from './feature-lab.ts';
import type { LabIds } from './openstack-cluster.ts';

/** Of the subnets `nodes-v4` and, for what has an IPv6 VIP, `nodes-v6`. */
const NODES_V4 = '10.20.0.0/22';

interface Rule {
  readonly direction: string;
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
}

interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security_group_rules: readonly Rule[];
}

interface Port {
  readonly id: string;
  readonly security_groups: readonly string[];
}

const managing =
  (manage: boolean) =>
  ({ outside, subnet }: LabIds): string =>
    `[LoadBalancer]\nfloating-network-id=${outside}\nsubnet-id=${subnet}\nmanage-security-groups=${manage}\n`;

/** `tcp 30080 10.20.0.0/22`, sorted. */
const opened = ({ security_group_rules: rules }: Group): readonly string[] =>
  rules
    .filter(({ direction }) => direction === 'ingress')
    .map(
      ({ port_range_max: max, port_range_min: min, protocol, remote_ip_prefix: prefix }) =>
        `${protocol} ${min === max ? min : `${min}-${max}`} ${prefix}`,
    )
    .toSorted();

test('managed security groups on a real Neutron', async (t) => {
  const lab = await openFeatureLab(t, ['lab-grouped-1', 'lab-grouped-2', 'lab-grouped-3'], { config: managing(true) });
  if (!lab) return;
  const { cluster, nothingIsLeft, nodes, services } = lab;
  const { user } = cluster.lab;
  const [first, second, bare] = nodes;
  assert.ok(first && second && bare);
  const groups = async (name: string): Promise<readonly Group[]> =>
    (await user.list<Group>('network', '/security-groups')).filter((one) => one.name.endsWith(`-default-${name}`));
  const groupOf = async (name: string): Promise<Group> => {
    const [group, ...twins] = await groups(name);
    assert.equal(twins.length, 0);
    return group ?? assert.fail(`${name} has no group`);
  };
  const portsWith = async (groupId: string): Promise<readonly string[]> =>
    (await user.list<Port>('network', '/ports'))
      .filter(({ security_groups }) => security_groups.includes(groupId))
      .map(({ id }) => id)
      .toSorted();
  const untilOnPortsOf = async (name: string, ...on: FeatureLab['nodes']): Promise<void> => {
    const wanted = on.map(({ portId }) => portId).toSorted();
    await cluster.until(`the group of ${name} is on the ports of ${on.length} nodes`, async () => {
      const [group] = await groups(name);
      return group !== undefined && (await portsWith(group.id)).join() === wanted.join();
    });
  };
  const untilReloaded = async (times: number): Promise<void> =>
    cluster.until(
      'the file is read',
      async () => (await readFile(cluster.log, 'utf8')).split('"File reloaded"').length > times,
    );
  /** Neutron lets a port go without, once it has no groups. */
  const secure = async (port: object): Promise<void> => {
    await user.request('network', 'PUT', `/ports/${bare.portId}`, { body: { port } });
  };

  await t.test(
    'one group a Service lets its node ports in, on the ports of the members that have port security',
    async () => {
      const { port } = await user.request<{ port: Port }>('network', 'GET', `/ports/${bare.portId}`);
      await secure({ security_groups: [], port_security_enabled: false });
      try {
        await services.create(
          asking('web', annotated({ 'enable-health-monitor': 'true' }), {
            ports: [portOf(80), portOf(53, 'UDP')],
            externalTrafficPolicy: 'Local',
          }),
        );
        await services.untilServed('web');
        await untilOnPortsOf('web', first, second);
        const { metadata, spec } = await services.get('web');
        const [http, dns] = spec?.ports?.map(({ nodePort }) => nodePort) ?? [];
        const group = await groupOf('web');
        assert.deepEqual(
          opened(group),
          [
            `tcp ${http} ${NODES_V4}`,
            `udp ${dns} ${NODES_V4}`,
            `tcp ${spec?.healthCheckNodePort} ${NODES_V4}`,
          ].toSorted(),
        );
        assert.ok(group.description.includes(`/${metadata?.uid}`) && group.tags.length === 2, JSON.stringify(group));
      } finally {
        await secure({ port_security_enabled: true, security_groups: port.security_groups });
      }
    },
  );

  await t.test('a port of the Service goes, and so does its rule', async () => {
    await services.patch('web', { spec: { ports: [portOf(80)] } });
    const [http] = (await services.get('web')).spec?.ports ?? [];
    await cluster.until('nothing is let in for UDP any more', async () => {
      const rules = opened(await groupOf('web'));
      return rules.length === 2 && rules.includes(`tcp ${http?.nodePort} ${NODES_V4}`);
    });
  });

  await t.test('a node that is a member no longer loses it, and has it when it is one again', async () => {
    const label = { 'node.kubernetes.io/exclude-from-external-load-balancers': 'true' };
    const relabel = async (labels: object): Promise<void> => {
      const nodes = cluster.client.of(resources.nodes);
      await nodes.patch({ name: second.server.name }, { type: 'merge', body: { metadata: { labels } } });
    };
    await relabel(label);
    await cluster.until('its port has lost the group', async () => {
      const { id } = await groupOf('web');
      return !(await portsWith(id)).includes(second.portId);
    });
    await relabel({ 'node.kubernetes.io/exclude-from-external-load-balancers': null });
    await cluster.until('its port has the group', async () => {
      const { id } = await groupOf('web');
      return (await portsWith(id)).includes(second.portId);
    });
  });

  await t.test(
    'the option is turned off: the group goes from all ports and altogether; turned on, it is back',
    async () => {
      await services.untilActive('web');
      await cluster.configure({ config: managing(false) });
      await untilReloaded(1);
      await services.patch('web', { metadata: { annotations: { example: 'off' } } });
      await cluster.until('the group is gone', async () => (await groups('web')).length === 0);
      await cluster.configure({ config: managing(true) });
      await untilReloaded(2);
      await services.patch('web', { metadata: { annotations: { example: 'on' } } });
      await cluster.until('the group is there and on ports', async () => {
        const [group] = await groups('web');
        return group !== undefined && (await portsWith(group.id)).length >= 2;
      });
    },
  );

  await t.test('deleted, also after the option was turned off meanwhile: nothing is left', async () => {
    await services.create(asking('kept-on'));
    await services.untilServed('kept-on');
    await services.delete('kept-on');
    await cluster.manager.end('SIGTERM');
    await cluster.configure({ config: managing(false) });
    await services.beginDelete('web');
    cluster.manager.start();
    await services.untilGone('web');
    await nothingIsLeft();
  });
});
