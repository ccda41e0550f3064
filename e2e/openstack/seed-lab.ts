/**
 * What the lab holds before anything is made in it. Run once, by openstack-lab.sh: `seed-lab.ts identity` before the services start,
 * `seed-lab.ts cloud` after, which prints a file of octavia's configuration.
 *
 * Beside what nova, neutron and octavia cannot do without: an outside network with two tagged IPv4 subnets, a network with both
 * IP families and a router for the cluster, and octavia's flavors and zones.
 */
import { systemClock } from '@outrigger/kube';
import { LabCloud, type LabService } from './lab-cloud.ts';

const HYPERVISORS = ['compute-1', 'compute-2', 'compute-3'];
const ZONES: Readonly<Record<string, readonly string[]>> = {
  'az-1': ['compute-1', 'compute-3'],
  'az-2': ['compute-2'],
};
/** Seconds until the hypervisors have registered. */
const PATIENCE_S = 180;

interface Thing {
  readonly id: string;
  readonly name: string;
}

const admin = new LabCloud('admin');

async function make(service: LabService, path: string, key: string, thing: object): Promise<Thing> {
  const answer = await admin.request<Record<string, Thing>>(service, 'POST', path, { body: { [key]: thing } });
  const made = answer[key];
  if (!made) throw new Error(`${path}: no ${key} in the answer`);
  return made;
}

/** Projects, users and their roles, and the catalogue. */
async function seedIdentity(): Promise<void> {
  const roles = new Map((await admin.list<Thing>('identity', '/roles')).map(({ id, name }) => [name, id]));
  for (const name of ['service', 'load-balancer_admin', 'load-balancer_member']) {
    if (!roles.has(name)) roles.set(name, (await make('identity', '/roles', 'role', { name })).id);
  }
  const account = async (project: string, user: string, granted: readonly string[]): Promise<void> => {
    const made = await make('identity', '/projects', 'project', { name: project, domain_id: 'default' });
    const body = { name: user, password: user, domain_id: 'default', default_project_id: made.id };
    const { id } = await make('identity', '/users', 'user', body);
    for (const role of granted) {
      await admin.request('identity', 'PUT', `/projects/${made.id}/users/${id}/roles/${roles.get(role)}`);
    }
  };
  await account('service', 'services', ['admin', 'service']);
  await account('k8s', 'k8s', ['member', 'reader', 'load-balancer_member']);
  const catalogue: readonly (readonly [name: string, type: string, url: string])[] = [
    ['nova', 'compute', 'http://127.0.0.1:18774/v2.1'],
    ['placement', 'placement', 'http://127.0.0.1:18778'],
    ['neutron', 'network', 'http://127.0.0.1:19696'],
    ['glance', 'image', 'http://127.0.0.1:19292'],
    ['octavia', 'load-balancer', 'http://127.0.0.1:19876'],
  ];
  for (const [name, type, url] of catalogue) {
    const { id } = await make('identity', '/services', 'service', { name, type });
    for (const part of ['public', 'internal', 'admin']) {
      const endpoint = { service_id: id, interface: part, url, region_id: 'RegionOne' };
      await make('identity', '/endpoints', 'endpoint', endpoint);
    }
  }
}

async function seedImages(owner: string): Promise<void> {
  for (const [name, extra] of [
    ['node-image', {}],
    ['amphora', { tags: ['amphora'], owner }],
  ] as const) {
    const image = { name, container_format: 'bare', disk_format: 'raw', visibility: 'public', ...extra };
    const { id } = await admin.request<Thing>('image', 'POST', '/images', { body: image });
    await admin.request('image', 'PUT', `/images/${id}/file`, { content: new Uint8Array(1_024) });
  }
}

async function seedMachines(cluster: string): Promise<void> {
  for (const [name, ram, vcpus, disk] of [
    ['m1.small', 2_048, 1, 20],
    ['m1.large', 8_192, 4, 80],
  ] as const) {
    await make('compute', '/flavors', 'flavor', { name, ram, vcpus, disk });
  }
  await make('compute', '/flavors', 'flavor', { name: 'amphora', id: 'amphora', ram: 64, vcpus: 1, disk: 1 });
  const quota = { instances: 50, cores: -1, ram: -1 };
  await admin.request('compute', 'PUT', `/os-quota-sets/${cluster}`, { body: { quota_set: quota } });
  await hypervisorsAreUp();
  for (const [name, hosts] of Object.entries(ZONES)) {
    const { id } = await make('compute', '/os-aggregates', 'aggregate', { name, availability_zone: name });
    for (const host of hosts) {
      await admin.request('compute', 'POST', `/os-aggregates/${id}/action`, { body: { add_host: { host } } });
    }
  }
}

/** The scheduler looks for new ones every ten seconds. */
async function hypervisorsAreUp(): Promise<void> {
  const deadline = systemClock.monotonic() + PATIENCE_S * 1_000;
  for (;;) {
    const found = await admin.list('compute', '/os-hypervisors');
    if (found.length >= HYPERVISORS.length) return;
    if (systemClock.monotonic() > deadline) throw new Error(`only ${found.length} hypervisors after ${PATIENCE_S} s`);
    await systemClock.sleep(500);
  }
}

async function seedNetworks(services: string, cluster: string): Promise<{ readonly management: Thing }> {
  const subnet = async (network: Thing, more: object): Promise<Thing> =>
    make('network', '/subnets', 'subnet', { network_id: network.id, ip_version: 4, ...more });
  const management = await make('network', '/networks', 'network', { name: 'lb-management', project_id: services });
  await subnet(management, { cidr: '172.31.0.0/22', project_id: services });

  const outside = await make('network', '/networks', 'network', {
    name: 'outside',
    'router:external': true,
    // Else its subnets are seen by the administrator alone, and no Service could name one.
    shared: true,
    'provider:network_type': 'flat',
    'provider:physical_network': 'outside',
  });
  for (const [name, cidr, tags] of [
    ['outside-a', '203.0.113.0/24', ['public', 'a']],
    ['outside-b', '198.51.100.0/24', ['public', 'b']],
  ] as const) {
    const { id } = await subnet(outside, { name, cidr, enable_dhcp: false });
    await admin.request('network', 'PUT', `/subnets/${id}/tags`, { body: { tags } });
  }

  const nodes = await make('network', '/networks', 'network', { name: 'nodes', project_id: cluster });
  const router = await make('network', '/routers', 'router', {
    name: 'nodes',
    project_id: cluster,
    external_gateway_info: { network_id: outside.id },
  });
  for (const range of [
    { name: 'nodes-v4', cidr: '10.20.0.0/22' },
    { name: 'nodes-v6', cidr: 'fd20::/64', ip_version: 6, ipv6_address_mode: 'slaac', ipv6_ra_mode: 'slaac' },
  ]) {
    const { id } = await subnet(nodes, { ...range, project_id: cluster });
    await admin.request('network', 'PUT', `/routers/${router.id}/add_router_interface`, { body: { subnet_id: id } });
  }
  return { management };
}

async function seedLoadBalancing(): Promise<void> {
  const profile = async (kind: string, key: string, name: string, data: object): Promise<Thing> =>
    make('load-balancer', `/${kind}`, key, { name, provider_name: 'amphora', ...data });
  const single = await profile('flavorprofiles', 'flavorprofile', 'single', {
    flavor_data: JSON.stringify({ loadbalancer_topology: 'SINGLE' }),
  });
  await make('load-balancer', '/flavors', 'flavor', { name: 'single', enabled: true, flavor_profile_id: single.id });
  for (const zone of Object.keys(ZONES)) {
    const { id } = await profile('availabilityzoneprofiles', 'availability_zone_profile', zone, {
      availability_zone_data: JSON.stringify({ compute_zone: zone }),
    });
    const body = { name: zone, enabled: true, availability_zone_profile_id: id };
    await make('load-balancer', '/availabilityzones', 'availability_zone', body);
  }
}

async function project(name: string): Promise<string> {
  const [found] = await admin.list<Thing>('identity', `/projects?name=${name}`);
  if (!found) throw new Error(`no project ${name}: seed the identities first`);
  return found.id;
}

async function seedCloud(): Promise<void> {
  const [services, cluster] = await Promise.all([project('service'), project('k8s')]);
  await seedImages(services);
  await seedMachines(cluster);
  const { management } = await seedNetworks(services, cluster);
  await seedLoadBalancing();
  process.stdout.write(`[controller_worker]\namp_boot_network_list = ${management.id}\n`);
}

const [what] = process.argv.slice(2);
if (what === 'identity') await seedIdentity();
else if (what === 'cloud') await seedCloud();
else throw new Error('usage: seed-lab.ts identity | cloud');
