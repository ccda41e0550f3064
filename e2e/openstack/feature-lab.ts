/** A cluster on the lab whose nodes can be members, and what the project held before anything was asked for. Entry: `openFeatureLab`. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Service } from '@outrigger/kube';
import { differenceOf, listProject } from './lab-listing.ts';
import type { Server } from './lab-machines.ts';
import { LabServices } from './lab-services.ts';
import { OpenStackCluster, type OpenStackClusterOptions } from './openstack-cluster.ts';
import { serviceOf } from './service-cases.ts';

/** A node that is initialised, and the port of its server. */
interface LabNode {
  readonly server: Server;
  readonly portId: string;
  /** In the subnets `nodes-v4` and `nodes-v6`. */
  readonly addresses: { readonly IPv4: string; readonly IPv6: string };
}

export interface FeatureLab {
  readonly cluster: OpenStackCluster;
  readonly services: LabServices;
  readonly nodes: readonly LabNode[];
  /** Fails when the project does not hold exactly what it held before. */
  readonly nothingIsLeft: () => Promise<void>;
  /** Resolves when an Event about the Service matches. */
  readonly untilTold: (service: string, what: RegExp) => Promise<void>;
}

/** `undefined` where there is no control plane; the test is skipped then. `names`: of the nodes. */
export async function openFeatureLab(
  t: TestContext,
  names: readonly string[],
  options: OpenStackClusterOptions = {},
): Promise<FeatureLab | undefined> {
  const cluster = await OpenStackCluster.start(t, options);
  if (!cluster) return undefined;
  const { ids, lab, machines } = cluster;
  const servers = await cluster.join(...names);
  const nodes = await Promise.all(
    servers.map(async (server): Promise<LabNode> => {
      const { fixed_ips, id } = await machines.portOf(server.id);
      const in_ = (subnet: string): string =>
        fixed_ips.find(({ subnet_id }) => subnet_id === subnet)?.ip_address ?? assert.fail(`${server.name}: ${subnet}`);
      return { server, portId: id, addresses: { IPv4: in_(ids.subnet), IPv6: in_(ids.subnet6) } };
    }),
  );
  await cluster.until('all nodes are initialised', async () =>
    (await Promise.all(names.map((name) => cluster.node(name)))).every((node) => node?.spec?.providerID !== undefined),
  );
  const before = await listProject(lab.user);
  return {
    cluster,
    services: new LabServices(cluster),
    nodes,
    nothingIsLeft: async () => assert.deepEqual(differenceOf(before, await listProject(lab.user)), []),
    untilTold: (service, what) =>
      cluster.until(`an Event about ${service} matches ${what}`, async () =>
        (await cluster.eventsAbout(service, 'Service')).some((event) => what.test(event)),
      ),
  };
}

/** Annotations by their names behind `loadbalancer.openstack.org/`. */
export function annotated(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [`loadbalancer.openstack.org/${name}`, value]),
  );
}

export const INTERNAL = { 'service.beta.kubernetes.io/openstack-internal-load-balancer': 'true' };

/** TCP port 80 where the spec names no ports. */
export function asking(
  name: string,
  annotations: Readonly<Record<string, string>> = {},
  spec: Partial<NonNullable<Service['spec']>> = {},
): Service {
  return serviceOf({ name, annotations, spec, listeners: [] }, '');
}

/** A Service's port, called after what it is: `tcp-80`. */
export function portOf(
  port: number,
  protocol: 'TCP' | 'UDP' = 'TCP',
): NonNullable<NonNullable<Service['spec']>['ports']>[number] {
  return { name: `${protocol.toLowerCase()}-${port}`, port, protocol };
}
