// Over 400 lines: one round from its start to its report.
/**
 * A hostile tenant and two hostile kubelets beside honest nodes and Services, on a real control plane with RBAC and NodeRestriction, over
 * the fake OpenStack. Entry point: `runTenantRound`. The honest part is turned over again and again: first alone, then beside a neutral load
 * (`NeutralLoad`: as much is written, as large, by somebody whose objects concern the program nothing), then beside those who do what they
 * can, then in the other order without them again.
 *
 * It may take half as long again as alone, no more (`slowerSteps`). At the pace of the attack (`TENANT`, `KUBELETS`) the neutral load takes hardly more than nothing
 * of two processors that all share: what the honest part takes longer is the program's, and what it takes beside the neutral load tells so.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client, type Service } from '@outrigger/kube';
import { clientOf, type ControlPlane, type ControlPlaneOptions } from '@outrigger/testing';
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import { buildProgram } from '../scripts/build-program.ts';
import { createFakeOpenStack, type FakeOpenStack } from '../providers/openstack/fake/fake-openstack.ts';
import { seedProject, type SeededProject } from '../providers/openstack/fake/seed-project.ts';
import { serveFakeOpenStack } from '../providers/openstack/fake/serve-fake-openstack.ts';
import { EDGE_LABEL, HONEST_NAMESPACE, HonestCluster, noTimes, type Times } from './honest-cluster.ts';
import { holdsIn } from './held-loop.ts';
import type { KubeletCounts } from './hostile-kubelets.ts';
import { HOSTILE_NAMESPACE, type Targets } from './hostile-services.ts';
import { allowTenant, TENANT_USER, type TenantCounts } from './hostile-tenant.ts';
import { LoadProcess } from './load-process.ts';
import { Manager } from './manager.ts';
import { PeakMemory } from './peak-memory.ts';
import { LEASE } from './replica.ts';
import { seededRandom } from './seeded-random.ts';
import { addressOf } from './served-services.ts';
import { timesText, type TimesOfPhases } from './tenant-times.ts';

/** Start the control plane with these: kubelets may write their own Nodes alone. */
export const TENANT_FLAGS: NonNullable<ControlPlaneOptions['flags']> = {
  'kube-apiserver': { 'enable-admission-plugins': 'NodeRestriction' },
};
/** A Service whose finalizer is taken off in the moment in which it is deleted leaves its load balancer to these. */
const ORPHANS = [
  '--orphan-policy=delete',
  '--orphan-check-period=10s',
  '--orphan-grace-period=10s',
  '--orphan-max-deletions=100',
];
/** Who the program is, in the audit log. */
const PROGRAM = 'program';
const OWN_NODE = 'hostile-own';
const TWIN_NODE = 'hostile-twin';
/**
 * Resident, at any moment. The launcher gives the old generation 256 MB and the manifests the pod 512 MiB: what is more than this under an
 * attack would end the program on a larger cluster. 300 Services and two Nodes may be 1.5 MB each.
 */
const MOST_MIB = 256;
/** An Event about a Service has at most 1 KiB of text, and repeats are counted in it. */
const EVENTS_A_WRITE = 3;
const GONE_MS = 120_000;
/** Problems that are told. */
const MOST_PROBLEMS = 20;

export interface TenantRoundOptions {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly services: number;
  readonly nodes: number;
  /** Of the attack. */
  readonly durationMs: number;
  /**
   * Whether the honest part is also turned over alone, and beside a neutral load: each as long as the attack, half of it before that, as what the
   * slowest of few takes says nothing beside what the slowest of many does.
   */
  readonly compares: boolean;
  /** For the program's log. */
  readonly directory: string;
}

export interface TenantReport {
  readonly seed: number;
  readonly services: number;
  readonly nodes: number;
  /** What must not be; empty: the round is passed. Whether the honest part was slower is not among them. */
  readonly problems: readonly string[];
  readonly times: TimesOfPhases;
  readonly tenant: TenantCounts;
  readonly kubelets: KubeletCounts;
  readonly events: number;
  readonly aloneMiB: number;
  readonly attackedMiB: number;
  readonly seconds: number;
}

/** What is in the project and not this cluster's. */
interface Foreign {
  readonly loadBalancer: string;
  readonly port: string;
  readonly address: string;
  readonly network: string;
  readonly subnet: string;
  /** All of it, to be compared. */
  readonly text: () => string;
}

export async function runTenantRound(options: TenantRoundOptions): Promise<TenantReport> {
  const { compares, controlPlane, directory, durationMs, seed } = options;
  // Alone, and beside what is written, but concerns the program nothing.
  const quietMs = compares ? durationMs / 2 : 0;
  await mkdir(directory, { recursive: true });
  await using owned = new AsyncDisposableStack();
  const random = seededRandom(seed);
  const client = owned.use(await clientOf(controlPlane.kubeconfig.path));
  await client.of(resources.namespaces).create({ metadata: { name: HONEST_NAMESPACE } });
  await allowTenant(client);

  const cloud = createFakeOpenStack({ clock: systemClock, random });
  Object.assign(cloud.octavia.settings, { createMs: 1_000, updateMs: 300, deleteMs: 300 });
  cloud.latencyMs = 10;
  const project = seedProject(cloud);
  const foreign = addForeign(cloud, project);
  const { authUrl } = owned.use(await serveFakeOpenStack(cloud));
  const cloudConfig = join(directory, 'cloud.conf');
  const account = 'username=k8s\npassword=k8s\ntenant-name=k8s\ndomain-id=default\nregion=RegionOne';
  await writeFile(
    cloudConfig,
    `[Global]\nauth-url=${authUrl}\n${account}\n[LoadBalancer]\nnode-selector=${EDGE_LABEL}\n`,
  );

  const log = join(directory, 'manager.log');
  const { bundle } = await buildProgram(directory);
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: PROGRAM, groups: ['system:masters'] });
  const args = ['--cloud-provider=openstack', `--cloud-config=${cloudConfig}`, `--kubeconfig=${kubeconfig}`];
  const flags = ['--secure-port=0', '--v=2', '--controllers=*,-node-route-controller', ...ORPHANS];
  const manager = owned.use(new Manager([...args, ...flags], log, 1, bundle));
  manager.start();
  const { pid } = manager;
  const memory = new PeakMemory(pid ?? 0);
  const mark = await controlPlane.auditLog.mark();

  const honest = owned.use(new HonestCluster(client, cloud, project, [OWN_NODE, TWIN_NODE]));
  await honest.fill(options.nodes, options.services);
  const own = honest.addMachine(OWN_NODE, true);
  const machines = [...honest.machines.values()];
  const [twinned] = machines;
  const [plain] = machines.toReversed();
  if (!twinned || !plain || plain.isEdge) throw new Error('too few nodes');
  const uids = uidsOf(honest);
  const before = foreign.text();
  const alone = noTimes();
  await turnOverFor(quietMs, () => honest.turnOver(alone));
  const neutral = noTimes();
  await turnOverBesideWrites(honest, neutral, quietMs, options);
  const aloneMiB = memory.take();

  const problems: string[] = [];
  const began = systemClock.monotonic();
  const attacked = noTimes();
  const addresses = [...honest.services.flatMap((service) => addressOf(service) ?? []), foreign.address];
  const kubeconfigOf = async (user: string, groups: readonly string[] = []): Promise<string> =>
    (await controlPlane.kubeconfigFor({ user, groups })).path;
  const kubeletOf = (name: string): Promise<string> => kubeconfigOf(`system:node:${name}`, ['system:nodes']);
  const twinID = `openstack:///${twinned.serverId}`;
  const attack = owned.use(
    await LoadProcess.start({
      kind: 'hostile',
      seed,
      tenant: { kubeconfig: await kubeconfigOf(TENANT_USER), targets: targetsOf(cloud, foreign, addresses) },
      kubelets: {
        own: { ...own, kubeconfig: await kubeletOf(OWN_NODE) },
        twin: { name: TWIN_NODE, providerID: twinID, kubeconfig: await kubeletOf(TWIN_NODE) },
        addresses: [...addresses, plain.address, '192.0.2.1', '10.0.255.254', 'fd20::dead'],
        providerIDs: machines.slice(0, 20).map(({ serverId }) => `openstack:///${serverId}`),
      },
    }),
  );
  await turnOverFor(durationMs, async () => {
    await honest.turnOver(attacked);
    problems.push(...honest.strangeMembers());
  });
  const { kubelets, tenant } = await attack.stop();
  const seconds = (systemClock.monotonic() - began) / 1_000;
  const attackedMiB = memory.take();
  problems.push(...(await capturesOf(client, cloud, honest, foreign)));
  const events = (await client.of(resources.coreEvents).list()).items.length;
  const done = { ...tenant, written: kubelets.written };
  // Changes and deletions are of what was created: on a slow machine there may be none in a short round.
  for (const what of ['created', 'written'] as const)
    if (done[what] === 0) problems.push(`there was no attack to speak of: nothing was ${what}`);
  const writes = done.created + done.changed + done.written;
  if (events > EVENTS_A_WRITE * (writes + options.services + options.nodes))
    problems.push(`there are ${events} Events`);

  await removeTenant(client, problems);
  await turnOverBesideWrites(honest, neutral, quietMs, options);
  await turnOverFor(quietMs, () => honest.turnOver(alone));
  const faults = (): readonly string[] => [...honest.faults(), ...leakedIn(cloud, honest, foreign)];
  const settling = systemClock.monotonic() + GONE_MS;
  while (faults().length > 0 && systemClock.monotonic() < settling) await systemClock.sleep(500);
  problems.push(...faults());
  if (foreign.text() !== before) problems.push(`what is foreign was changed: ${before} became ${foreign.text()}`);
  for (const [name, uid] of uids)
    if (honest.nodes.get(name)?.metadata?.uid !== uid) problems.push(`${name}: the node was deleted`);
  const deletions = await controlPlane.auditLog.count(
    ({ objectRef, user, verb }) =>
      user.username === PROGRAM && verb === 'delete' && objectRef?.resource === 'nodes' ? objectRef.name : undefined,
    mark,
  );
  for (const name of Object.keys(deletions)) problems.push(`${name}: the program asked for the node to be deleted`);
  if (attackedMiB > MOST_MIB) problems.push(`${attackedMiB.toFixed(0)} MiB are more than ${MOST_MIB}`);
  problems.push(...(await leadershipLost(client, manager, pid)));
  const code = await manager.end('SIGTERM');
  if (code !== 0) problems.push(`the program ended with ${code ?? 'a signal'} after SIGTERM`);
  const lines = await readFile(log, 'utf8');
  for (const words of ['Leadership lost', '-eyJ-eyJ'])
    if (lines.includes(words)) problems.push(`its log says: ${words}`);
  problems.push(...holdsIn(lines).map((line) => `its log says: ${line}`));
  return {
    seed,
    services: options.services,
    nodes: options.nodes,
    problems: [...new Set(problems)].slice(0, MOST_PROBLEMS),
    times: { alone, neutral, attacked },
    tenant,
    kubelets,
    events,
    aloneMiB,
    attackedMiB,
    seconds,
  };
}

async function turnOverFor(durationMs: number, turn: () => Promise<void>): Promise<void> {
  const end = systemClock.monotonic() + durationMs;
  while (systemClock.monotonic() < end) await turn();
}

async function turnOverBesideWrites(
  honest: HonestCluster,
  times: Times,
  durationMs: number,
  { controlPlane, seed }: Pick<TenantRoundOptions, 'controlPlane' | 'seed'>,
): Promise<void> {
  if (durationMs === 0) return;
  const { path: kubeconfig } = await controlPlane.kubeconfigFor({ user: 'neutral', groups: ['system:masters'] });
  await using load = await LoadProcess.start({ kind: 'neutral', seed, options: { kubeconfig } });
  await turnOverFor(durationMs, () => honest.turnOver(times));
  await load.stop();
}

/** Some lines. */
export function tenantLine(report: TenantReport): string {
  const { aloneMiB, attackedMiB, events, kubelets, nodes, problems, seconds, seed, services, tenant, times } = report;
  return (
    `seed ${seed}: ${problems.length === 0 ? 'passed' : 'FAILED'}: ${services} services and ${nodes} nodes; in ` +
    `${seconds.toFixed(0)} s a tenant made ${tenant.created}, changed ${tenant.changed}, deleted ${tenant.deleted} ` +
    `(${tenant.refused} refused), kubelets wrote ${kubelets.written} (${kubelets.refused} refused), ${events} Events, ` +
    `${aloneMiB.toFixed(0)} MiB alone, ${attackedMiB.toFixed(0)} MiB attacked; median/95 %/longest:` +
    timesText([times])
  );
}

function addForeign(cloud: FakeOpenStack, { project, publicNetwork }: SeededProject): Foreign {
  const { floatingIps, networks, ports } = cloud.networking;
  const network = networks.addNetwork({ name: 'foreign', project_id: project.id });
  const subnet = networks.addSubnet(network, { name: 'foreign', cidr: '10.77.0.0/24' });
  const port = ports.add({ network_id: network.id, project_id: project.id });
  const vip = ports.add({ network_id: network.id, project_id: project.id });
  const { floating_ip_address: address, id } = floatingIps.add({
    floating_network_id: publicNetwork.id,
    project_id: project.id,
  });
  const { store } = cloud.octavia;
  const now = cloud.octavia.timestamp();
  const loadBalancer = cloud.ids.uuid();
  store.loadBalancers.set(loadBalancer, {
    id: loadBalancer,
    project_id: project.id,
    name: 'foreign',
    admin_state_up: true,
    provisioning_status: 'ACTIVE',
    operating_status: 'ONLINE',
    created_at: now,
    updated_at: null,
    tags: [],
    description: '',
    vip_address: vip.fixed_ips[0]?.ip_address ?? '',
    vip_port_id: vip.id,
    vip_subnet_id: subnet.id,
    vip_network_id: network.id,
    additional_vips: [],
    provider: 'amphora',
    flavor_id: null,
    availability_zone: null,
    ownsPort: false,
  });
  const text = (): string =>
    JSON.stringify([
      floatingIps.floatingIps.get(id),
      ports.ports.get(port.id),
      ports.ports.get(vip.id),
      networks.networks.get(network.id),
      networks.subnets.get(subnet.id),
      store.loadBalancers.get(loadBalancer),
      store.listenersOf(loadBalancer),
      store.poolsOf(loadBalancer),
    ]);
  return { loadBalancer, port: port.id, address, network: network.id, subnet: subnet.id, text };
}

function targetsOf(cloud: FakeOpenStack, foreign: Foreign, addresses: readonly string[]): Targets {
  const honest = [...cloud.octavia.store.loadBalancers.values()];
  return {
    addresses,
    loadBalancers: [foreign.loadBalancer, ...honest.map(({ id }) => id)],
    ports: [foreign.port, ...honest.slice(0, 20).map(({ vip_port_id }) => vip_port_id)],
    networks: [foreign.network],
    subnets: [foreign.subnet],
  };
}

/** What the tenant has that is not its own. */
async function capturesOf(
  client: Client,
  cloud: FakeOpenStack,
  honest: HonestCluster,
  foreign: Foreign,
): Promise<readonly string[]> {
  const others = new Set([foreign.address, ...honest.services.flatMap((service) => addressOf(service) ?? [])]);
  const theirs = await hostileServices(client);
  const captured = theirs.flatMap(({ metadata, status }) =>
    (status?.loadBalancer?.ingress ?? [])
      .filter(({ ip = '' }) => others.has(ip))
      .map(({ ip }) => `${metadata?.name} of the tenant says that it has ${ip}`),
  );
  const both = [honest.services, theirs].map(uidsOfServices);
  const shared = [...cloud.octavia.store.loadBalancers.values()]
    .filter(({ tags }) => both.every((uids) => isOfAny(tags, uids)))
    .map(({ id }) => `the tenant shares the load balancer ${id}`);
  return [...captured, ...shared];
}

async function hostileServices(client: Client): Promise<readonly Service[]> {
  return (await client.of(resources.services).list({ namespace: HOSTILE_NAMESPACE })).items;
}

/** As its namespace goes: all at once; who takes it away takes the tenant's own finalizers away too. */
async function removeTenant(client: Client, problems: string[]): Promise<void> {
  const services = client.of(resources.services);
  const deadline = systemClock.monotonic() + GONE_MS;
  for (;;) {
    const left = await hostileServices(client);
    if (left.length === 0) break;
    if (systemClock.monotonic() > deadline) {
      for (const { metadata, spec } of left)
        problems.push(
          `the tenant's ${metadata?.name} is still there: ${JSON.stringify({ finalizers: metadata?.finalizers, type: spec?.type, class: spec?.loadBalancerClass })}`,
        );
      break;
    }
    await services.deleteCollection({ namespace: HOSTILE_NAMESPACE });
    for (const { metadata: { annotations = {}, finalizers = [], name = '' } = {}, spec } of left) {
      // What another class's controller would take off, of which there is none; and what nobody claims, of which a person is told.
      const isClaimed = annotations[loadBalancerOwnerAnnotation] !== undefined;
      const isOurs = spec?.type === 'LoadBalancer' ? spec.loadBalancerClass === undefined : isClaimed;
      const kept = finalizers.filter((finalizer) => isOurs && !finalizer.startsWith('example.com/'));
      if (kept.length === finalizers.length) continue;
      const body = { metadata: { finalizers: kept } };
      await services
        .patch({ namespace: HOSTILE_NAMESPACE, name }, { type: 'merge', body }, { answer: 'metadata' })
        .catch(() => {});
    }
    await systemClock.sleep(500);
  }
  for (const name of [OWN_NODE, TWIN_NODE]) await client.of(resources.nodes).delete({ name });
}

function leakedIn(cloud: FakeOpenStack, honest: HonestCluster, foreign: Foreign): readonly string[] {
  const uids = uidsOfServices(honest.services);
  const addresses = new Set([foreign.address, ...honest.services.flatMap((service) => addressOf(service) ?? [])]);
  return [
    ...[...cloud.octavia.store.loadBalancers.values()]
      .filter(({ id, tags }) => id !== foreign.loadBalancer && !isOfAny(tags, uids))
      .map(({ id }) => `leaked: load balancer ${id}`),
    ...cloud.networking.floatingIps.floatingIps
      .all()
      .filter(({ floating_ip_address }) => !addresses.has(floating_ip_address))
      .map(({ description, floating_ip_address }) => `leaked: floating IP ${floating_ip_address}: ${description}`),
  ];
}

function uidsOfServices(services: readonly Service[]): ReadonlySet<string> {
  return new Set(services.map(({ metadata }) => metadata?.uid ?? ''));
}

/** By the tags of owners and sharers, which end with the UID. */
function isOfAny(tags: readonly string[], uids: ReadonlySet<string>): boolean {
  return tags.some((tag) => uids.has(tag.split('/').at(-1) ?? ''));
}

async function leadershipLost(client: Client, manager: Manager, pid: number | undefined): Promise<readonly string[]> {
  const { spec } = await client.of(resources.leases).get(LEASE);
  return [
    ...(manager.pid === pid ? [] : ['the program has ended']),
    ...((spec?.leaseTransitions ?? 0) === 0 ? [] : [`the Lease changed hands ${spec?.leaseTransitions} times`]),
  ];
}

function uidsOf(honest: HonestCluster): ReadonlyMap<string, string> {
  return new Map([...honest.nodes].map(([name, { metadata }]) => [name, metadata?.uid ?? '']));
}
