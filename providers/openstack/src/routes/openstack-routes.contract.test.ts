import { systemClock } from '@outrigger/kube';
import { routesSuite, type RoutesSubject } from '../../../../packages/cloud-runtime/src/routes.suite.ts';
import { FakeRouterRig } from './fake-router.suite.ts';

/** `GET /routers/{id}`, `GET /ports` of the router and of the next hops, `PUT /ports/{id}` of each node, the routes. */
const REQUESTS_OF_BATCH = 6;

async function subjectOf(without: readonly string[], requestsOfBatch: number): Promise<RoutesSubject> {
  const rig = await FakeRouterRig.open({ without, clock: systemClock });
  const { cloud } = rig;
  const known = new Map<string, ReturnType<FakeRouterRig['addressesOf']>>();
  return {
    opened: rig.opened,
    requestsOfBatch,
    createInstance: async (name) => {
      const node = rig.addNode(name);
      known.set(name, rig.addressesOf(name));
      return node;
    },
    // A node has them yet when its machine is gone.
    addressesOf: ({ name }) => known.get(name) ?? [],
    deleteInstance: async (name) => rig.removeNode(name),
    createForeignRoute: async (destination, { name }) =>
      rig.addForeignRoute(destination, rig.addressesOf(name)[0]?.address ?? ''),
    limitRoutes: async (most) => void (cloud.networking.routers.maxRoutes = most),
    fail: async (how) => {
      if (how === 0) cloud.faults.set();
      else if (how === 'lost') cloud.faults.set({ effect: 'lost', operation: 'PUT /routers' });
      else cloud.faults.set({ effect: 'status', status: how, service: 'network' });
    },
    requests: async () => cloud.calls.all().length,
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  };
}

routesSuite('openstack', () => subjectOf([], REQUESTS_OF_BATCH));
// The router is read again, as the whole list is written.
routesSuite('openstack without extraroute-atomic', () => subjectOf(['extraroute-atomic'], REQUESTS_OF_BATCH + 1));
