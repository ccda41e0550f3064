/** The fake cloud as the conformance suite wants it: how machines come and go, how it fails, and what is in it. */
import type { NodeRef } from '@outrigger/cloud-provider';
import type { ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import { addServer, configOf, startFake } from './fake-cloud.ts';
import { nodeOf } from './open-provider.ts';

export async function createProviderFixture(): Promise<ProviderFixture> {
  const clock = new FakeClock();
  const cloud = await startFake(clock);
  const { faults } = cloud;
  const servers = cloud.resource('servers');
  const idOf = ({ name }: NodeRef): string => `srv-${name}`;
  return {
    config: configOf(cloud.endpoint),
    clock,
    http: { root: cloud.endpoint, config: configOf },
    createMachine: async (name) => {
      addServer(cloud, name);
      return nodeOf(name);
    },
    stopMachine: async (node) => void servers.patch(idOf(node), { status: 'stopped' }),
    deleteMachine: async (node) => void servers.delete(idOf(node)),
    listMachines: async () => servers.all().map(({ name }) => String(name)),
    fail: async (how) => {
      if (how?.kind === 'status') faults.set({ status: how.status, ...retryAfter(how.retryAfterSeconds) });
      else if (how?.kind === 'empty') faults.set({ spoils: 'empty-list' });
      else if (how) faults.set({ when: ({ method }) => method !== 'GET', status: 500, takesEffect: true });
      else faults.set();
    },
    requests: async () => cloud.calls.count,
    // <load-balancers>
    listParts: async () => ['addresses', 'load-balancers', 'firewalls'].flatMap((path) => cloud.resource(path).ids()),
    // </load-balancers>
    // <routes>
    createForeignRoute: async (destination, node) =>
      void cloud.resource('routes').put({ id: 'by-hand', destination, server: idOf(node) }),
    limitRoutes: async (most) => void (cloud.resource('routes').most = most),
    // </routes>
    // <volumes>
    zones: ['north-1a', 'north-1b'],
    zonesOfVolume: 1,
    createVolume: async (id, [zone]) => {
      cloud.resource('volumes').put({ id, zone });
      return { name: id, uid: `uid-of-${id}`, source: 'flexVolume', driver: 'my-cloud.example/volume', handle: id };
    },
    deleteVolume: async ({ handle }) => void cloud.resource('volumes').delete(handle),
    // </volumes>
    [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose](),
  };
}

function retryAfter(seconds: number | undefined): { readonly retryAfterSeconds?: number } {
  return seconds === undefined ? {} : { retryAfterSeconds: seconds };
}
