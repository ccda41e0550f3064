/**
 * The provider conformance suite over the OpenStack services themselves, with real servers and no Kubernetes: what of it costs seconds. Load
 * balancers, of which Octavia makes one in a minute or more, are judged with the fake, and by services.lab.test.ts here.
 */
import { providerConformance, providerTests, type ProviderFixture } from '@outrigger/conformance';
import openStack from '@outrigger/provider-openstack';
import { labCloudConfig } from './lab-cloud.ts';
import { idOf, LabMachines } from './lab-machines.ts';
import { openLab } from './lab.ts';

const FEATURES: readonly string[] = ['provider', 'instances', 'routes'];
/** Of no server. */
const NEXT_HOP = '10.20.3.250';

async function labFixture(): Promise<ProviderFixture> {
  const { user } = await openLab();
  const router = idOf(await user.list('network', '/routers'), 'nodes');
  const path = `/routers/${router}`;
  const before = await user.request<object>('network', 'GET', path);
  const machines = new LabMachines(user);
  const servers = new Map<string, string>();
  const serverOf = (name: string): string => servers.get(name) ?? '';
  return {
    config: {
      fileName: 'cloud.conf',
      text: labCloudConfig(`[Route]\nrouter-id=${router}\n\n[LoadBalancer]\nenabled=false\n`),
    },
    createMachine: async (name) => {
      const { id } = await machines.create(name);
      servers.set(name, id);
      return { name, uid: id, labels: {}, annotations: {} };
    },
    stopMachine: ({ name }) => machines.setStatus(serverOf(name), 'SHUTOFF'),
    deleteMachine: ({ name }) => machines.delete(serverOf(name)),
    listMachines: async () => (await user.list<{ name: string }>('compute', '/servers')).map(({ name }) => name),
    createForeignRoute: async (destination) => {
      const body = { router: { routes: [{ destination, nexthop: NEXT_HOP }] } };
      await user.request('network', 'PUT', `${path}/add_extraroutes`, { body });
    },
    [Symbol.asyncDispose]: async () => {
      await machines[Symbol.asyncDispose]();
      const { routes } = (before as { router: { routes: readonly object[] } }).router;
      await user.request('network', 'PUT', path, { body: { router: { routes } } });
    },
  };
}

await providerConformance({
  name: 'openstack, by its services',
  provider: () => openStack(),
  fixture: labFixture,
  tests: providerTests.filter(({ feature }) => FEATURES.includes(feature)),
});
