import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { routesSuite, type RoutesSubject } from '../../../packages/cloud-runtime/src/routes.suite.ts';
import { createMemoryCloud, createMemoryProvider, serveMemoryCloud, type MemoryCloud } from './index.ts';

async function subjectOf(cloud: MemoryCloud, over: 'process' | 'http'): Promise<RoutesSubject> {
  const served = over === 'http' ? await serveMemoryCloud(cloud) : undefined;
  const config = served && { fileName: 'cloud.json', text: JSON.stringify({ endpoint: served.endpoint }) };
  const opened = await openProvider(createMemoryProvider(served ? {} : { cloud }), {
    cluster: { id: 'cluster-1', name: 'test' },
    clock: systemClock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config,
  });
  return {
    opened,
    createInstance: async (name) => {
      const { providerID } = cloud.createInstance({ name });
      return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
    },
    deleteInstance: async (name) => void cloud.deleteInstance(name),
    createForeignRoute: async (destination, { name }) =>
      void cloud.createRoute({ destination, instanceId: name, nodeName: '', clusterId: 'another' }),
    limitRoutes: async (routes) => cloud.configure({ quota: { routes } }),
    fail: async (how) => {
      if (how === 0) cloud.setFaults([]);
      else cloud.setFaults([how === 'lost' ? { effect: 'lost' } : { effect: 'status', status: how }]);
    },
    requests: async () => cloud.calls().total,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await served?.[Symbol.asyncDispose]();
    },
  };
}

for (const over of ['process', 'http'] as const) {
  routesSuite(`memory, over ${over}`, () =>
    subjectOf(createMemoryCloud({ clock: systemClock, random: () => 0 }), over),
  );
}
