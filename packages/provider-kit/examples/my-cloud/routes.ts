/** Routes to the pods of each node, one request a route. */
import { parseProviderID, type ProviderHost, type Routes } from '@outrigger/cloud-provider';
import { ownerIn, routesOneByOne, tagsOf, type HttpClient } from '@outrigger/provider-kit';
import { collection, NAME } from './cloud-api.ts';

interface CloudRoute {
  readonly id: string;
  readonly destination: string;
  /** The server's ID; absent once the server is deleted. */
  readonly server?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export function routesOf(host: ProviderHost, api: HttpClient): Routes {
  const routes = collection<CloudRoute>(api, '/routes');
  return routesOneByOne({
    list: async (call) =>
      (await routes.list(call)).map(({ destination, id, labels, server }) => ({
        id,
        destination,
        targetProviderID: server && `${NAME}://${server}`,
        blackhole: server === undefined,
        ownership: ownerIn(labels)?.clusterId === host.cluster.id ? 'owned' : 'foreign',
      })),
    create: async ({ destination, node: { providerID, uid } }, call) => {
      const server = parseProviderID(providerID, NAME);
      await routes.create({ destination, server, labels: tagsOf({ clusterId: host.cluster.id, uid }) }, call);
    },
    delete: ({ id }, call) => routes.delete(id, call),
  });
}
