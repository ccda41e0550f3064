import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import type { CloudProvider, ConfigText } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { providerSuite, type ProviderSubject } from '../../../packages/cloud-runtime/src/provider.suite.ts';
import { createMemoryCloud, createMemoryProvider, serveMemoryCloud, type MemoryCloud } from './index.ts';

const open = (provider: CloudProvider, clock: FakeClock, config?: ConfigText): Promise<OpenedProvider> =>
  openProvider(provider, {
    cluster: { id: 'cluster-1', name: 'test' },
    clock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config,
  });

function subjectOf(
  cloud: MemoryCloud,
  clock: FakeClock,
  opened: OpenedProvider,
  close: () => Promise<void>,
): ProviderSubject {
  return {
    opened,
    createInstance: async (name) => {
      cloud.createInstance({ name });
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    deleteInstance: async (name) => void cloud.deleteInstance(name),
    stopInstance: async (name) => void cloud.updateInstance(name, { state: 'shutdown' }),
    fail: async (how) => {
      if (how === 0) cloud.setFaults([]);
      else cloud.setFaults([how === 'empty' ? { effect: 'empty' } : { effect: 'status', status: how }]);
    },
    pass: (ms) => clock.advance(ms),
    requests: async () => cloud.calls().total,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await close();
    },
  };
}

providerSuite('memory, in process', async () => {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  return subjectOf(cloud, clock, await open(createMemoryProvider({ cloud }), clock), async () => {});
});

providerSuite('memory, over HTTP', async () => {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  const served = await serveMemoryCloud(cloud);
  const config = { fileName: 'cloud.json', text: JSON.stringify({ endpoint: served.endpoint }) };
  return subjectOf(cloud, clock, await open(createMemoryProvider(), clock, config), async () => {
    await served[Symbol.asyncDispose]();
  });
});
