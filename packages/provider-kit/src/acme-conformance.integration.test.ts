/** The example of 150 lines, judged by the conformance suite. */
import { fileURLToPath } from 'node:url';
import type { NodeRef } from '@outrigger/cloud-provider';
import { loadProvider } from '@outrigger/cloud-runtime';
import { providerConformance, type ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import { ACME_TOKEN, acmeServer, failAcme, startAcmeCloud } from './acme.suite.ts';

const file = fileURLToPath(new URL('../examples/acme-cloud.ts', import.meta.url));
const PARTS = ['addresses', 'load-balancers', 'firewalls', 'records'];

async function fixture(): Promise<ProviderFixture> {
  const clock = new FakeClock();
  const cloud = await startAcmeCloud(clock);
  const [servers, routes] = [cloud.resource('servers'), cloud.resource('routes')];
  const configOf = (root: string): { fileName: string; text: string } => ({
    fileName: 'cloud.yaml',
    text: `endpoint: ${root}\ntoken: ${ACME_TOKEN}\n`,
  });
  const idOf = ({ name }: NodeRef): string => `srv-${name}`;
  return {
    config: configOf(cloud.endpoint),
    clock,
    createMachine: async (name) => {
      servers.put(acmeServer(name));
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async (node) => void servers.patch(idOf(node), { status: 'stopped' }),
    deleteMachine: async (node) => void servers.delete(idOf(node)),
    listMachines: async () => servers.all().map(({ name }) => String(name)),
    fail: async (how) => failAcme(cloud, how),
    requests: async () => cloud.calls.count,
    // Twenty of them are two pages.
    requestsOf: { lookUp: 2, createRoutes: 5 },
    listParts: async () => PARTS.flatMap((path) => cloud.resource(path).ids()),
    createForeignRoute: async (destination, node) =>
      void routes.put({ id: 'by hand', destination, server: idOf(node) }),
    limitRoutes: async (most) => void (routes.most = most),
    http: { root: cloud.endpoint, config: configOf },
    [Symbol.asyncDispose]: () => cloud[Symbol.asyncDispose](),
  };
}

await providerConformance({
  name: 'acme',
  provider: () => loadProvider(file, { builtIn: {}, workingDirectory: '/' }),
  fixture,
  without: {
    'instances / place is one text for all machines and over restarts': 'the example says no place',
    'provider / a changed config that cannot be read leaves the old one in use': 'the example has no reconfigure',
  },
});
