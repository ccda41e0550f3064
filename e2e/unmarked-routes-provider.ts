/** The memory cloud as one that keeps no owner with a route, as Neutron's routers do not. The default export is a provider. */
import {
  CloudError,
  type CallContext,
  type Instances,
  type NodeAddress,
  type ProviderFactory,
  type Route,
  type Routes,
} from '@outrigger/cloud-provider';
import { createMemoryProvider } from '@outrigger/provider-memory';

const createProvider: ProviderFactory = (options) => {
  const provider = createMemoryProvider(options);
  return {
    ...provider,
    open: async (host) => {
      const capabilities = await provider.open(host);
      const { instances, routes } = capabilities;
      if (!instances || !routes) throw new CloudError('configuration', 'the memory cloud has instances and routes');
      return { ...capabilities, routes: withoutOwners(routes, instances) };
    },
  };
};

export default createProvider;

function withoutOwners(routes: Routes, instances: Instances): Routes {
  /** By destination: a route leads to an address, also when the machine there has gone. */
  const hops = new Map<string, readonly string[]>();
  const note = (destination: string, addresses: readonly NodeAddress[] = []): void => {
    const internal = addresses.filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
    if (internal.length > 0) hops.set(destination, internal);
  };
  const unmark = async (route: Route, call: CallContext): Promise<Route> => {
    const { blackhole, destination, id, targetNodeName: name = '', targetProviderID: providerID } = route;
    const node = { name, uid: '', providerID, labels: {}, annotations: {} };
    const { result } = await instances.read(node, 'metadata', call);
    if (result.kind === 'found') note(destination, result.instance.addresses);
    return { id, destination, nextHops: hops.get(destination) ?? [], blackhole, ownership: 'unmarked' };
  };
  return {
    batchSize: routes.batchSize,
    unmarked: true,
    list: async (call) => {
      const list = await routes.list(call);
      return { ...list, routes: await Promise.all(list.routes.map((route) => unmark(route, call))) };
    },
    create: (requests, call) => {
      for (const { addresses, destination } of requests) note(destination, addresses);
      return routes.create(requests, call);
    },
    delete: (owned, call) => routes.delete(owned, call),
  };
}
