/** The lab's own world in the fake: one project of a cluster, its network with both families, and the outside. */
import type { FakeOpenStack } from './fake-openstack.ts';
import type { FakeProject, FakeUser } from './keystone/identity.ts';
import type { FakeNetwork, FakeSubnet } from './neutron/networks.ts';
import type { FakePort } from './neutron/ports.ts';
import type { FakeRouter } from './neutron/routers.ts';
import type { NewServer } from './nova/compute.ts';
import type { FakeServer } from './nova/server.ts';

export interface SeededProject {
  readonly project: FakeProject;
  /** `k8s`, with the password `k8s` and the roles of the lab's. */
  readonly user: FakeUser;
  /** 10.0.0.0/16 and fd20::/64. */
  readonly network: FakeNetwork;
  readonly subnet: FakeSubnet;
  readonly subnet6: FakeSubnet;
  /** 203.0.113.0/24, of another project. */
  readonly publicNetwork: FakeNetwork;
  readonly publicSubnet: FakeSubnet;
  /** Between the two. */
  readonly router: FakeRouter;
  /** A server of the project with a port on its network, as nova makes them together. */
  readonly addNode: (server: Omit<NewServer, 'projectId'>) => { readonly server: FakeServer; readonly port: FakePort };
}

export function seedProject({ identity, compute, networking }: FakeOpenStack): SeededProject {
  const admins = identity.addProject('admin');
  const project = identity.addProject('k8s');
  identity.addUser('admin', 'admin', admins, ['admin', 'member', 'reader']);
  const user = identity.addUser('k8s', 'k8s', project, ['member', 'reader', 'load-balancer_member']);
  const { networks, ports, routers } = networking;
  const network = networks.addNetwork({ name: 'cluster', project_id: project.id });
  const subnet = networks.addSubnet(network, { name: 'cluster-v4', cidr: '10.0.0.0/16' });
  const subnet6 = networks.addSubnet(network, { name: 'cluster-v6', cidr: 'fd20::/64' });
  const publicNetwork = networks.addNetwork({ name: 'public', project_id: admins.id, 'router:external': true });
  const publicSubnet = networks.addSubnet(publicNetwork, {
    name: 'public-v4',
    cidr: '203.0.113.0/24',
    enable_dhcp: false,
  });
  const router = routers.add({
    name: 'cluster',
    project_id: project.id,
    external: publicNetwork,
    subnets: [subnet, subnet6],
  });
  const addNode: SeededProject['addNode'] = (given) => {
    const server = compute.addServer({ projectId: project.id, userId: user.id, ...given });
    const port = ports.add({
      network_id: network.id,
      project_id: project.id,
      device_id: server.id,
      device_owner: `compute:${server.zone}`,
    });
    return { server, port };
  };
  return { project, user, network, subnet, subnet6, publicNetwork, publicSubnet, router, addNode };
}
