/** For tests: the provider with routes and volumes over the fake OpenStack, without sockets. */
import type { NodeAddress, NodeRef, RouteRequest, Routes } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger, type Clock } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack, type FakeOpenStack } from '../../fake/fake-openstack.ts';
import { fakeCloudConf, NOWHERE } from '../../fake/fake-cloud-conf.ts';
import { inProcessFetch } from '../../fake/in-process-fetch.ts';
import type { FakePort } from '../../fake/neutron/ports.ts';
import type { FakeRouter } from '../../fake/neutron/routers.ts';
import { seededRandom } from '../../fake/seeded-random.ts';
import { seedProject, type SeededProject } from '../../fake/seed-project.ts';
import { createOpenStackProvider } from '../openstack-provider.ts';

export interface FakeRouterOptions {
  /** Default: one that stands still. */
  readonly clock?: Clock;
  /** What Neutron does not have. */
  readonly without?: readonly string[];
  /** A type that the catalogue does not have. */
  readonly withoutService?: string;
}

export class FakeRouterRig implements AsyncDisposable {
  readonly cloud: FakeOpenStack;
  readonly seeded: SeededProject;
  readonly opened: OpenedProvider;
  readonly #ended = new AbortController();

  constructor(world: Pick<FakeRouterRig, 'cloud' | 'seeded' | 'opened'>) {
    this.cloud = world.cloud;
    this.seeded = world.seeded;
    this.opened = world.opened;
  }

  static async open({
    clock = new FakeClock(),
    without = [],
    withoutService,
  }: FakeRouterOptions = {}): Promise<FakeRouterRig> {
    const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
    for (const alias of without) cloud.extensions.aliases.delete(alias);
    cloud.catalogue = cloud.catalogue.filter(({ type }) => type !== withoutService);
    const seeded = seedProject(cloud);
    const text = fakeCloudConf({ region: cloud.region, more: `[Route]\nrouter-id = ${seeded.router.id}` });
    const opened = await openProvider(createOpenStackProvider({ environment: NOWHERE, fetch: inProcessFetch(cloud) }), {
      cluster: { id: 'cluster-1', name: 'test' },
      clock,
      logger: silentLogger,
      random: () => 0,
      budget: { maxAttempts: 1, buckets: { default: { qps: 100_000 } } },
      config: { fileName: 'cloud.conf', text },
    });
    const rig = new FakeRouterRig({ cloud, seeded, opened });
    // The token, the catalogue, the extensions: once for all.
    await rig.routes.create([], rig.call);
    return rig;
  }

  get routes(): Routes {
    const { routes } = this.opened.capabilities;
    if (!routes) throw new Error('the provider has no routes');
    return routes;
  }

  get call(): ReturnType<OpenedProvider['callContext']> {
    return this.opened.callContext({ signal: this.#ended.signal, priority: 'normal' });
  }

  /** As it is now. */
  get router(): FakeRouter {
    return this.cloud.networking.routers.routers.get(this.seeded.router.id) ?? this.seeded.router;
  }

  /** `destination via hop`, sorted. */
  get stored(): readonly string[] {
    return this.router.routes.map(({ destination, nexthop }) => `${destination} via ${nexthop}`).toSorted();
  }

  addNode(name: string): NodeRef {
    const { server } = this.seeded.addNode({ name, id: `server-${name}` });
    return { name, uid: `uid-${name}`, providerID: `openstack:///${server.id}`, labels: {}, annotations: {} };
  }

  portOf(name: string): FakePort {
    const [port] = this.cloud.networking.ports.ports.where('device_id', `server-${name}`);
    if (!port) throw new Error(`${name} has no port`);
    return port;
  }

  addressesOf(name: string): readonly NodeAddress[] {
    const ports = this.cloud.networking.ports.ports.where('device_id', `server-${name}`);
    return ports.flatMap(({ fixed_ips: ips }) =>
      ips.map(({ ip_address: address }) => ({ type: 'InternalIP', address }) as const),
    );
  }

  request(node: NodeRef, destination: string): RouteRequest {
    return { node, addresses: this.addressesOf(node.name), destination };
  }

  pairsOf(name: string): readonly string[] {
    return this.portOf(name).allowed_address_pairs.map(({ ip_address: range }) => range);
  }

  removeNode(name: string): void {
    const { ports } = this.cloud.networking;
    for (const { id } of ports.ports.where('device_id', `server-${name}`)) ports.remove(id);
    this.cloud.compute.remove(`server-${name}`);
  }

  /** As somebody else would. */
  addForeignRoute(destination: string, nexthop: string): void {
    this.cloud.networking.routers.addRoutes(this.router, [{ destination, nexthop }]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    await this.opened[Symbol.asyncDispose]();
  }
}
