/** What the annotations that the lab's tests do not ask for bring about in the fake OpenStack: each row is one Service. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rig, callContext, served, serviceNamed } from '../rig.suite.ts';
import { annotationNotes } from '../../../../../scripts/openstack-pages/annotation-notes.ts';
import { annotationTable, type AnnotationKey, type AnnotationRow } from './annotation-table.ts';
import { annotated, portOf } from './tree-inputs.suite.ts';

type Thing = Readonly<Record<string, unknown>>;

/** What is there for the only Service. */
interface Seen {
  readonly loadBalancer: Thing;
  readonly listener: Thing;
  readonly pool: Thing;
  readonly members: readonly Thing[];
  readonly monitor: Thing;
  readonly floatingIP: Thing;
}

interface Row {
  readonly asks: (rig: Rig) => Partial<Record<AnnotationKey, string>>;
  readonly gets: (seen: Seen, rig: Rig) => Partial<Record<keyof Seen, Thing | readonly Thing[]>>;
}

const REF = 'https://barbican.example/v1/containers/7';
const monitored = { enableHealthMonitor: 'true' };
/** A second subnet outside. The project does not see it: Neutron shows those of a shared network alone. */
const outside = ({ cloud: { networking }, seeded }: Rig): string =>
  networking.networks.addSubnet(seeded.publicNetwork, { name: 'second', cidr: '198.51.100.0/24' }).id;

/** A port in a network of IPv4 alone: of one with two addresses Octavia asks which. */
function vipPort({ cloud: { networking }, seeded: { project } }: Rig): string {
  const network = networking.networks.addNetwork({ name: 'vips', project_id: project.id });
  networking.networks.addSubnet(network, { name: 'vips', cidr: '10.77.0.0/24' });
  return networking.ports.add({ network_id: network.id, project_id: project.id }).id;
}

const ROWS: readonly Row[] = [
  {
    asks: () => ({ timeoutMemberConnect: '1', timeoutMemberData: '2', timeoutTcpInspect: '3' }),
    gets: () => ({ listener: { timeout_member_connect: 1, timeout_member_data: 2, timeout_tcp_inspect: 3 } }),
  },
  {
    asks: () => ({ ...monitored, healthMonitorDelay: '9', healthMonitorTimeout: '8' }),
    gets: () => ({ monitor: { delay: 9, timeout: 8, type: 'TCP' } }),
  },
  {
    asks: () => ({ ...monitored, healthMonitorMaxRetries: '7', healthMonitorMaxRetriesDown: '6' }),
    gets: () => ({ monitor: { max_retries: 7, max_retries_down: 6 } }),
  },
  {
    asks: ({ cloud }) => {
      cloud.octavia.settings.tlsContainers = new Set([REF]);
      return { tlsContainerRef: REF };
    },
    gets: () => ({
      listener: { protocol: 'TERMINATED_HTTPS', default_tls_container_ref: REF },
      pool: { protocol: 'HTTP' },
    }),
  },
  {
    asks: ({ seeded }) => ({ networkId: seeded.network.id }),
    gets: (_, { seeded }) => ({ loadBalancer: { vip_network_id: seeded.network.id, vip_subnet_id: seeded.subnet.id } }),
  },
  {
    asks: ({ seeded }) => ({ subnetId: seeded.subnet.id, memberSubnetId: seeded.subnet6.id }),
    gets: (_, { seeded }) => ({
      loadBalancer: { vip_subnet_id: seeded.subnet.id },
      members: [{ subnet_id: seeded.subnet6.id }, { subnet_id: seeded.subnet6.id }],
    }),
  },
  {
    asks: (rig) => ({ portId: vipPort(rig), internal: 'true' }),
    gets: ({ loadBalancer: { vip_address: address } }) => {
      assert.match(String(address), /^10\.77\.0\./);
      return { floatingIP: {} };
    },
  },
  {
    asks: (rig) => ({ floatingNetworkId: rig.seeded.publicNetwork.id, floatingSubnetId: outside(rig) }),
    gets: ({ floatingIP: { floating_ip_address: address } }, { seeded }) => {
      assert.match(String(address), /^198\.51\.100\./);
      return { floatingIP: { floating_network_id: seeded.publicNetwork.id } };
    },
  },
  {
    asks: () => ({ nodeSelector: 'env=production' }),
    gets: () => ({ members: [{ name: 'node-2' }] }),
  },
];

async function seenBy(rig: Rig): Promise<Seen> {
  const everything = await rig.everything();
  const only = (kind: string): Thing => {
    const found = Object.entries(everything).filter(([key]) => key.startsWith(`${kind} `));
    assert.ok(found.length <= 1, `${found.length} ${kind}`);
    // Answers are objects.
    return (found[0]?.[1] ?? {}) as Thing;
  };
  const pool = only('pools');
  const members = await rig.client.list<Thing>(callContext(), {
    service: 'load-balancer',
    operation: 'GET /v2.0/lbaas/pools/{id}/members',
    path: `/v2.0/lbaas/pools/${String(pool['id'])}/members`,
    collection: 'members',
  });
  return {
    loadBalancer: only('loadbalancers'),
    listener: only('listeners'),
    pool,
    members: members.toSorted((a, b) => (String(a['name']) < String(b['name']) ? -1 : 1)),
    monitor: only('healthmonitors'),
    floatingIP: only('floatingips'),
  };
}

for (const { asks, gets } of ROWS) {
  test(`asked for: ${Object.keys(asks(await Rig.open())).join(', ')}`, async () => {
    const rig = await Rig.open({ loadBalancer: { allowAllNamedResources: true } });
    const [first, second] = rig.backEnds;
    assert.ok(first && second);
    const labelled = { ...second, node: { ...second.node, labels: { env: 'production' } } };
    const service = serviceNamed('web', { annotations: annotated(asks(rig)) });
    rig.backEnds = rig.provider.selectBackEnds(service, [first, labelled]);
    const plan = await rig.bring(service);
    assert.equal(plan.refused, undefined);
    const seen = await seenBy(rig);
    const wanted = gets(seen, rig);
    assert.partialDeepStrictEqual(seen, wanted);
    if (wanted.members) assert.equal(seen.members.length, Object.keys(wanted.members).length);
    assert.ok((await rig.pass(rig.desired(served(service, plan)))).complete, 'and nothing is to be changed then');
  });
}

test('keep-floatingip: the address outlives its Service', async () => {
  const rig = await Rig.open();
  const service = serviceNamed('web', { annotations: annotated({ keepFloatingIP: 'true' }) });
  const plan = await rig.bring(service);
  const [ingress] = plan.ingress;
  await rig.bring(served(service, plan), false);
  const left = Object.values(await rig.everything()) as readonly Thing[];
  assert.ok(left.some((one) => one['floating_ip_address'] === ingress?.ip && one['port_id'] === null));
});

test('load-balancer-id and load-balancer-address: written, and shared by who names the ID', async () => {
  const rig = await Rig.open();
  const plan = await rig.bring(serviceNamed('web'));
  const id = plan.annotations?.[annotationTable.loadBalancerId.name];
  assert.equal(plan.annotations?.[annotationTable.loadBalancerAddress.name], plan.ingress[0]?.ip);
  assert.ok(id);
  const other = serviceNamed('other', { ports: [portOf(443)], annotations: annotated({ loadBalancerId: id }) });
  assert.deepEqual((await rig.bring(other)).ingress, plan.ingress);
  const there = Object.keys(await rig.everything());
  assert.deepEqual(
    ['loadbalancers', 'listeners'].map((kind) => there.filter((key) => key.startsWith(`${kind} `)).length),
    [1, 2],
  );
});

test('what is called seen on the fake is asked for here', async () => {
  const rig = await Rig.open();
  const asked = new Set([
    'keepFloatingIP',
    'loadBalancerId',
    'loadBalancerAddress',
    ...ROWS.flatMap(({ asks }) => Object.keys(asks(rig))),
  ]);
  const rows = Object.entries(annotationTable) as readonly (readonly [AnnotationKey, AnnotationRow])[];
  const marked = rows.filter(([key]) => annotationNotes[key]?.shownBy === 'fake').map(([key]) => key);
  assert.deepEqual(
    marked.filter((key) => !asked.has(key)),
    [],
  );
});
