/** The user's project of the lab as the fixture of the provider conformance suite. */
import type { ProviderFixture } from '@outrigger/conformance';
import { labCloudConfig } from './lab-cloud.ts';
import { idOf, LabMachines } from './lab-machines.ts';
import { openLab } from './lab.ts';

/** Of no server. */
const NEXT_HOP = '10.20.3.250';

export async function labFixture(): Promise<ProviderFixture> {
  const { user } = await openLab();
  const router = idOf(await user.list('network', '/routers'), 'nodes');
  const networks = await user.list<{ readonly id: string; readonly name: string }>('network', '/networks');
  const loadBalancer = `[LoadBalancer]\nfloating-network-id=${idOf(networks, 'outside')}\nnetwork-id=${idOf(networks, 'nodes')}\n`;
  const path = `/routers/${router}`;
  const before = await user.request<object>('network', 'GET', path);
  const machines = new LabMachines(user);
  const servers = new Map<string, string>();
  const serverOf = (name: string): string => servers.get(name) ?? '';
  return {
    config: {
      fileName: 'cloud.conf',
      text: labCloudConfig(`[Route]\nrouter-id=${router}\n\n${loadBalancer}`),
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
