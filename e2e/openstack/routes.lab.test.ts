/** Pod CIDRs routed by a router that neutron really has, beside a route that somebody else has made. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Port } from './lab-machines.ts';
import { OpenStackCluster } from './openstack-cluster.ts';

const CLUSTER_CIDR = '10.64.0.0/16';
/** Inside the cluster CIDR, and led to an address of no node. */
const FOREIGN = { destination: '10.64.200.0/24', nexthop: '10.20.3.250' };

interface ExtraRoute {
  readonly destination: string;
  readonly nexthop: string;
}

test('routes to real servers', async (t) => {
  const cluster = await OpenStackCluster.start(t, {
    flags: ['--controllers=*,node-ipam-controller', '--allocate-node-cidrs', `--cluster-cidr=${CLUSTER_CIDR}`],
    config: ({ router }) => `[Route]\nrouter-id=${router}\n\n[LoadBalancer]\nenabled=false\n`,
  });
  if (!cluster) return;
  const { ids, lab, machines } = cluster;
  const path = `/routers/${ids.router}`;
  const change = async (verb: 'add' | 'remove', routes: readonly ExtraRoute[]): Promise<void> => {
    await lab.user.request('network', 'PUT', `${path}/${verb}_extraroutes`, { body: { router: { routes } } });
  };
  const routes = async (): Promise<readonly ExtraRoute[]> =>
    (await lab.user.request<{ router: { routes: readonly ExtraRoute[] } }>('network', 'GET', path)).router.routes;
  await change('add', [FOREIGN]);
  // Routes of the last nodes are held for a while, lest live traffic is cut; the tests that follow need none of them.
  t.after(async () => change('remove', await routes()));

  await t.test('each node has a route and its port lets the pods pass; what others have made stays', async () => {
    const servers = await cluster.join('lab-routed-1', 'lab-routed-2');
    await cluster.until('both have a network', async () => {
      const nodes = await Promise.all(servers.map(({ name }) => cluster.node(name)));
      return nodes.every((node) =>
        node?.status?.conditions?.some(({ status, type }) => type === 'NetworkUnavailable' && status === 'False'),
      );
    });
    const made = await routes();
    await Promise.all(
      servers.map(async ({ id, name }) => {
        const { podCIDR = '' } = (await cluster.node(name))?.spec ?? {};
        isRouted(podCIDR, made, await machines.portOf(id));
      }),
    );
    assert.equal(made.length, 3);
  });

  await t.test('the route of a node that is gone goes; another’s inside the cluster CIDR does not', async () => {
    const server = await machines.get((await cluster.node('lab-routed-1'))?.spec?.providerID?.split('/').at(-1) ?? '');
    assert.ok(server);
    await machines.delete(server.id);
    cluster.silence('lab-routed-1');
    await cluster.until('its route is gone', async () => (await routes()).length === 2);
    assert.ok((await routes()).some(({ destination }) => destination === FOREIGN.destination));
  });
});

function isRouted(podCIDR: string, routes: readonly ExtraRoute[], port: Port): void {
  const hops = routes.filter(({ destination }) => destination === podCIDR).map(({ nexthop }) => nexthop);
  assert.equal(hops.length, 1, `${podCIDR}: ${JSON.stringify(routes)}`);
  assert.ok(port.fixed_ips.some(({ ip_address }) => ip_address === hops[0]));
  const pairs = port.allowed_address_pairs.map(({ ip_address }) => ip_address);
  assert.deepEqual(pairs, [podCIDR]);
}
