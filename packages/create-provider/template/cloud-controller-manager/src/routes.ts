/** Routes: the pod range of each node leads to its machine. */
import type { ProviderHost, Routes } from '@outrigger/cloud-provider';
import { ownerIn, routesOneByOne, tagsOf, type HttpClient } from '@outrigger/provider-kit';
import { PROVIDER_NAME, thingsAt, type Thing } from './api.ts';

interface Route extends Thing {
  readonly destination: string;
  /** ID of the machine; not there when that is gone. */
  readonly server?: string;
}

const PREFIX = `${PROVIDER_NAME}://`;

export function routesOf(host: ProviderHost, api: HttpClient): Routes {
  const routes = thingsAt<Route>(api, '/routes');
  return routesOneByOne({
    list: async (call) =>
      (await routes.list(call)).map(({ destination, id, labels, server }) => ({
        id,
        destination,
        targetProviderID: server && `${PREFIX}${server}`,
        blackhole: server === undefined,
        // A foreign one is never changed.
        ownership: ownerIn(labels)?.clusterId === host.cluster.id ? 'owned' : 'foreign',
      })),
    create: async ({ destination, node: { providerID = '', uid } }, call) => {
      const labels = tagsOf({ clusterId: host.cluster.id, uid });
      await routes.create({ destination, server: providerID.slice(PREFIX.length), labels }, call);
    },
    delete: ({ id }, call) => routes.delete(id, call),
  });
}
