/** The lab as cloud-provider-openstack would work on it: for the script of its calls. */
import { resources } from '@outrigger/kube';
import type { CpoWorld } from '../../providers/openstack/src/load-balancer/cpo-calls.suite.ts';
import type { FeatureLab } from './feature-lab.ts';
import type { LabService } from './lab-cloud.ts';
import { octaviaTrees } from './octavia-tree.ts';

export function cpoWorldOf({ cluster, nodes }: FeatureLab): CpoWorld {
  const { user } = cluster.lab;
  // Of the service, which is below the root that the provider's client has.
  const below = (path: string): string => path.replace(/^\/v2\.0(\/lbaas)?/u, '');
  const serviceIn = (service: string): LabService => (service === 'network' ? service : 'load-balancer');
  return {
    client: {
      request: (_call, { body, method, path, query = [], service }) => {
        const search = query.map(([name, value]) => `${name}=${value}`).join('&');
        return user.request(serviceIn(service), method, `${below(path)}${search && `?${search}`}`, { body });
      },
      list: (_call, { path, service }) => user.list(serviceIn(service), below(path)),
    },
    seeded: { subnet: { id: cluster.ids.subnet, cidr: '10.20.0.0/22' }, publicNetwork: { id: cluster.ids.outside } },
    backEnds: nodes.map(({ addresses, server: { id, name } }) => ({
      node: { name, uid: `uid-${name}`, providerID: `openstack:///${id}`, labels: {}, annotations: {} },
      addresses: [{ type: 'InternalIP', address: addresses.IPv4 }],
    })),
    settled: (id) =>
      cluster.settled(`the load balancer ${id} is ACTIVE`, async () => {
        const trees = await octaviaTrees(user);
        return trees.find((tree) => tree.id === id)?.provisioningStatus === 'ACTIVE';
      }),
  };
}

/** As CPO does when all of it is deleted. */
export async function releaseAsCpo({ cluster }: FeatureLab, name: string): Promise<void> {
  const body = { metadata: { finalizers: null } };
  await cluster.client.of(resources.services).patch({ namespace: 'default', name }, { type: 'merge', body });
}
