/** For tests: the world in which the recordings were made, and what was done in it through parts of the API that the fake has not. */
import type { FakeClock } from '@outrigger/testing';
import { createFakeOpenStack, type FakeOpenStack } from '../fake-openstack.ts';
import type { FakeNetwork } from '../neutron/networks.ts';
import type { FakeRouter } from '../neutron/routers.ts';
import { seededRandom } from '../seeded-random.ts';
import type { Recording } from './recording.ts';

/** Through parts of the API that the fake has not: what a cluster's machines are made with, and never asked by the provider. */
const BY_HAND = new Set([
  'neutron-network-create',
  'neutron-subnet-create',
  'neutron-subnet6-create',
  'neutron-router-create',
  'neutron-router-add-interface',
  'neutron-router-add-interface6',
  'nova-server-create',
  'nova-server-stop',
  'nova-server-pause',
  'nova-server-delete',
]);

export const isByHand = ({ name }: Recording): boolean => BY_HAND.has(name);

type Json = Readonly<Record<string, never>> & { readonly id: string };

export class ReplayedWorld {
  readonly cloud: FakeOpenStack;
  /** From what was recorded to what the fake has in its place: IDs, addresses, MACs. */
  readonly #known = new Map<string, string>();
  readonly #recordings: readonly Recording[];
  readonly #projectId: string;
  readonly #userId: string;
  readonly #publicNetwork: FakeNetwork;
  #network: FakeNetwork | undefined;
  #router: FakeRouter | undefined;

  constructor(clock: FakeClock, recordings: readonly Recording[]) {
    const cloud = createFakeOpenStack({ clock, random: seededRandom(1) });
    this.cloud = cloud;
    this.#recordings = recordings;
    const { identity, networking, compute, octavia } = cloud;
    const admins = identity.addProject('admin');
    const project = identity.addProject('k8s');
    const user = identity.addUser('k8s', 'k8s', project, ['member', 'reader', 'load-balancer_member']);
    const credential = identity.addApplicationCredential('credential', user, project);
    this.#projectId = project.id;
    this.#userId = user.id;
    const types = ['network', 'placement', 'compute', 'identity', 'image', 'load-balancer'];
    cloud.catalogue = types.map((type) => ({ type, name: type, path: `/${type}` }));
    this.#publicNetwork = networking.networks.addNetwork({
      name: 'public',
      project_id: admins.id,
      mtu: 1500,
      'router:external': true,
    });
    networking.networks.addSubnet(this.#publicNetwork, { cidr: '203.0.113.0/24', enable_dhcp: false });
    const small = compute.addFlavor('m1.small', { vcpus: 1, ram: 2048, disk: 20 });
    const shown = (name: string): Json => this.#answerOf(name);
    this.learn(shown('nova-flavor'), small.id, 'flavor');
    this.learn(shown('octavia-flavors'), cloud.ids.uuid(), 'flavors', 0);
    this.#remember('CREDENTIAL-ID', credential.id);
    this.#remember('CREDENTIAL-NAME', credential.name);
    this.#remember('CREDENTIAL-SECRET', credential.secret);
    this.learn(shown('neutron-networks-external'), this.#publicNetwork.id, 'networks', 0);
    Object.assign(octavia.settings, { createMs: 6000, updateMs: 1000, deleteMs: 2000, childrenLateMs: Infinity });
  }

  /** What a recorded text says, said of the fake. */
  translate(text: string): string {
    let translated = text;
    for (const [recorded, own] of this.#known) translated = translated.replaceAll(recorded, own);
    return translated;
  }

  /** IDs that stand in the same place of two answers are the same thing's. */
  compare(recorded: unknown, own: unknown): void {
    if (typeof recorded !== 'object' || recorded === null || typeof own !== 'object' || own === null) return;
    for (const [name, value] of Object.entries(recorded)) {
      const other = (own as Readonly<Record<string, unknown>>)[name];
      const isKey = /^(id|vip_port_id|vip_address|floating_ip_address)$/.test(name);
      if (isKey && typeof value === 'string' && typeof other === 'string') this.#remember(value, other);
      else if (!Array.isArray(value)) this.compare(value, other);
      else if (name === 'listeners' || name === 'pools' || name === 'loadbalancers') this.#compareNamed(value, other);
    }
  }

  /** Does what the fake's API has not, and what came before a request without being recorded. */
  prepare({ name, answer, body }: Recording): void {
    const { networking, octavia } = this.cloud;
    const { networks, routers } = networking;
    switch (name) {
      case 'neutron-network-create':
        this.#network = networks.addNetwork({ name: 'rec-net', project_id: this.#projectId });
        this.learn(answer as Json, this.#network.id, 'network');
        break;
      case 'neutron-subnet-create':
      case 'neutron-subnet6-create': {
        const { cidr } = (body as { subnet: { cidr: string } }).subnet;
        const subnet = networks.addSubnet(this.#network as FakeNetwork, { name: 'rec-sub', cidr });
        this.learn(answer as Json, subnet.id, 'subnet');
        break;
      }
      case 'neutron-router-create':
        this.#router = routers.add({ name: 'rec-router', project_id: this.#projectId, external: this.#publicNetwork });
        this.learn(answer as Json, this.#router.id, 'router');
        break;
      case 'neutron-router-add-interface':
      case 'neutron-router-add-interface6': {
        const { subnet_id } = body as { subnet_id: string };
        const subnet = networks.subnets.get(this.translate(subnet_id));
        if (subnet) routers.addInterface(this.#router as FakeRouter, subnet);
        break;
      }
      case 'nova-server-create':
        this.#createServer(body as { server: { name: string; metadata?: Record<string, string> } }, answer as Json);
        break;
      case 'octavia-vip-floatingip': {
        // Made in between, by a request that was not recorded.
        const [{ port_id, id } = { port_id: '', id: '' }] = (
          answer as { floatingips: { port_id: string; id: string }[] }
        ).floatingips;
        const made = networking.floatingIps.add({
          floating_network_id: this.#publicNetwork.id,
          project_id: this.#projectId,
          port_id: this.translate(port_id),
          description: 'rec',
        });
        this.#remember(id, made.id);
        break;
      }
      case 'octavia-flavors': {
        const [{ id } = { id: '' }] = (answer as { flavors: Json[] }).flavors;
        octavia.settings.flavors = new Map([[this.translate(id), 'rec-small']]);
        octavia.settings.availabilityZones = new Set(['rec-az-1']);
        break;
      }
      case 'nova-server-stop':
      case 'nova-server-pause':
      case 'nova-server-delete':
        this.#changeServer(name);
        break;
      default:
    }
  }

  learn(answer: Json, own: string, key: string, index?: number): void {
    const inner = (answer as unknown as Record<string, { id: string } & { id: string }[]>)[key];
    const { id } = (index === undefined ? inner : inner?.[index]) ?? { id: '' };
    this.#remember(id, own);
  }

  #createServer({ server }: { server: { name: string; metadata?: Record<string, string> } }, answer: Json): void {
    const { compute, networking } = this.cloud;
    const made = compute.addServer({ projectId: this.#projectId, userId: this.#userId, metadata: {}, ...server });
    const port = networking.ports.add({
      network_id: this.#network?.id ?? '',
      project_id: this.#projectId,
      device_id: made.id,
      device_owner: 'compute:az-1',
      status: 'DOWN',
    });
    const recorded = (answer as unknown as { server: { id: string } }).server.id;
    this.#remember(recorded, made.id);
    const theirs = this.#portOf(recorded);
    this.#remember(theirs.id, port.id);
    for (const [index, { ip_address }] of theirs.fixed_ips.entries()) {
      this.#remember(ip_address, port.fixed_ips[index]?.ip_address ?? '');
    }
    for (const [index, group] of theirs.security_groups.entries()) {
      this.#remember(group, port.security_groups[index] ?? '');
    }
  }

  #changeServer(name: string): void {
    const { compute } = this.cloud;
    const byName = (wanted: string): string => compute.newestFirst().find((each) => each.name === wanted)?.id ?? '';
    if (name === 'nova-server-stop') compute.update(byName('rec-2'), { status: 'SHUTOFF' });
    if (name === 'nova-server-pause') compute.update(byName('rec|3'), { status: 'PAUSED' });
    if (name !== 'nova-server-delete') return;
    for (const { id } of this.cloud.networking.ports.ports.where('device_id', byName('rec|3'))) {
      this.cloud.networking.ports.remove(id);
    }
    compute.remove(byName('rec|3'));
  }

  #portOf(serverId: string): RecordedPort {
    for (const { answer } of this.#recordings) {
      const { ports = [] } = (answer ?? {}) as { ports?: readonly RecordedPort[] };
      const found = ports.find((port) => port.device_id === serverId && 'security_groups' in port);
      if (found) return found;
    }
    return { id: 'no port', device_id: serverId, fixed_ips: [], security_groups: [] };
  }

  #compareNamed(recorded: readonly unknown[], own: unknown): void {
    if (!Array.isArray(own)) return;
    for (const each of recorded as readonly { readonly name?: string }[]) {
      const same = (own as readonly { readonly name?: string }[]).find(({ name }) => name === each.name);
      if (each.name !== undefined && same) this.compare(each, same);
    }
  }

  #remember(recorded: string, own: string): void {
    if (recorded !== '' && !recorded.startsWith('0000')) this.#known.set(recorded, own);
  }

  #answerOf(name: string): Json {
    return this.#recordings.find((each) => each.name === name)?.answer as Json;
  }
}

interface RecordedPort {
  readonly id: string;
  readonly device_id: string;
  readonly fixed_ips: readonly { readonly ip_address: string }[];
  readonly security_groups: readonly string[];
}
