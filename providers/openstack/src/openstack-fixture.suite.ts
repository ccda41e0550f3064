/** The fake OpenStack as a fixture of the conformance suite, without sockets. */
import type { CloudProvider, NodeRef } from '@outrigger/cloud-provider';
import type { CloudFailure, NamedThing, ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import { fakeCloudConf, NOWHERE } from '../fake/fake-cloud-conf.ts';
import { createFakeOpenStack, type FakeOpenStack } from '../fake/fake-openstack.ts';
import type { FaultEffect } from '../fake/fault-rules.ts';
import { inProcessFetch } from '../fake/in-process-fetch.ts';
import { seededRandom } from '../fake/seeded-random.ts';
import { seedProject, type SeededProject } from '../fake/seed-project.ts';
import { annotationTable, type AnnotationKey } from './load-balancer/desired/annotation-table.ts';
import { createOpenStackProvider } from './openstack-provider.ts';

export interface OpenStackFixture extends ProviderFixture {
  readonly provider: () => CloudProvider;
}

export interface OpenStackFixtureOptions {
  /** What fails: the services themselves, or what stands between us and them. Default: `proxy`. */
  readonly failing?: 'status' | 'proxy';
  /** What Neutron does not have. */
  readonly without?: readonly string[];
}

/** `GET /routers/{id}`, `GET /ports` of the router and of the next hops, `PUT /ports/{id}` of each node, the routes. */
const REQUESTS_OF_ROUTES = 6;

/** What servers of these names have as their ID. */
function idOf(name: string): string {
  return `00000000-0000-4000-8000-${Buffer.from(name.slice(-6)).toString('hex').padStart(12, '0')}`;
}

export async function openStackFixture({
  failing = 'proxy',
  without = [],
}: OpenStackFixtureOptions = {}): Promise<OpenStackFixture> {
  const clock = new FakeClock();
  const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
  for (const alias of without) cloud.extensions.aliases.delete(alias);
  const seeded = seedProject(cloud);
  const { networking, octavia } = cloud;
  const portsOf = (name: string): ReturnType<typeof networking.ports.ports.where> =>
    networking.ports.ports.where('device_id', idOf(name));
  return {
    clock,
    provider: () => createOpenStackProvider({ environment: NOWHERE, fetch: inProcessFetch(cloud) }),
    config: {
      fileName: 'cloud.conf',
      text: fakeCloudConf({ region: cloud.region, more: `[Route]\nrouter-id = ${seeded.router.id}` }),
    },
    createMachine: async (name) => {
      seeded.addNode({ name, id: idOf(name) });
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async ({ name }: NodeRef) => void cloud.compute.update(idOf(name), { status: 'SHUTOFF' }),
    deleteMachine: async ({ name }: NodeRef) => {
      for (const { id } of portsOf(name)) networking.ports.remove(id);
      cloud.compute.remove(idOf(name));
    },
    setMaintenance: async ({ name }, state) =>
      void cloud.compute.update(idOf(name), {
        lockReason: state && 'host maintenance',
        status: state === 'in-progress' ? 'MIGRATING' : 'ACTIVE',
      }),
    listMachines: async () => cloud.compute.newestFirst().map(({ name }) => name),
    fail: async (how) => (how ? cloud.faults.set(effectOf(how, failing)) : cloud.faults.set()),
    requests: async () => cloud.calls.all().length,
    requestsOf: {
      // Servers, and their ports.
      lookUp: 2,
      // Without it, the router is read again, as the whole list is written.
      createRoutes: REQUESTS_OF_ROUTES + (without.includes('extraroute-atomic') ? 1 : 0),
      // One each, and one for what there is not.
      volumes: 3,
    },
    listParts: async () => [
      ...octavia.store.loadBalancers.keys(),
      ...octavia.store.listeners.keys(),
      ...octavia.store.pools.keys(),
      ...octavia.store.monitors.keys(),
      ...networking.floatingIps.floatingIps.all().map(({ id }) => id),
      // Each project has one that is called so.
      ...networking.securityGroups.groups.all().flatMap(({ id, name }) => (name === 'default' ? [] : [id])),
    ],
    createNamedThings: async (namespace) => namedThings(cloud, seeded, namespace),
    createForeignRoute: async (destination, { name }) => {
      const router = networking.routers.routers.get(seeded.router.id) ?? seeded.router;
      const nexthop = portsOf(name)[0]?.fixed_ips[0]?.ip_address ?? '';
      networking.routers.addRoutes(router, [{ destination, nexthop }]);
    },
    limitRoutes: async (most) => void (networking.routers.maxRoutes = most),
    zones: ['az-1', 'az-2'],
    zonesOfVolume: 1,
    createVolume: async (id, [zone = '']) => {
      cloud.volumes.add({ id, projectId: seeded.project.id, availability_zone: zone });
      return { name: id, uid: `uid-${id}`, source: 'cinder', handle: id };
    },
    deleteVolume: async ({ handle }) => void cloud.volumes.volumes.delete(handle),
    [Symbol.asyncDispose]: async () => {},
  };
}

/** A tag says for whom they are. */
function namedThings(
  { networking, octavia: { store } }: FakeOpenStack,
  { project, publicNetwork }: SeededProject,
  namespace: string | undefined,
): readonly NamedThing[] {
  const { floatingIps, networks, ports, routers } = networking;
  const tags = namespace === undefined ? [] : [`outrigger-namespace=${namespace}`];
  const its = { name: 'of-others', project_id: project.id, tags };
  const network = networks.addNetwork(its);
  const subnet = networks.addSubnet(network, {
    ...its,
    cidr: namespace === undefined ? '10.77.1.0/24' : '10.77.2.0/24',
  });
  routers.add({ ...its, external: publicNetwork, subnets: [subnet] });
  const port = ports.add({ ...its, network_id: network.id });
  const { floating_ip_address: requestedIP, id: floatingIP } = floatingIps.add({
    ...its,
    floating_network_id: publicNetwork.id,
  });
  floatingIps.floatingIps.change(floatingIP, { tags });
  const named = (kind: string, id: string, key: AnnotationKey): NamedThing => ({
    kind,
    id,
    wish: { annotations: { [annotationTable[key].name]: id } },
    isUsed: async () => {
      const members = [...store.pools.keys()].flatMap((pool) => store.membersOf(pool));
      return JSON.stringify([[...store.loadBalancers.values()], members]).includes(id);
    },
  });
  const isUsed = async (): Promise<boolean> => Boolean(floatingIps.floatingIps.get(floatingIP)?.port_id);
  return [
    named('network', network.id, 'networkId'),
    named('subnet', subnet.id, 'subnetId'),
    named('subnet', subnet.id, 'memberSubnetId'),
    named('port', port.id, 'portId'),
    { kind: 'floating-ip', id: floatingIP, wish: { requestedIP }, isUsed },
  ];
}

function effectOf(how: CloudFailure, failing: 'status' | 'proxy'): FaultEffect {
  if (how.kind === 'empty') return failing === 'proxy' ? { effect: 'cut' } : { effect: 'empty' };
  if (how.kind !== 'status') return { effect: how.kind };
  const { retryAfterSeconds, status } = how;
  if (failing === 'proxy' && retryAfterSeconds === undefined) return { effect: 'proxy', status };
  return { effect: 'status', status, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}
