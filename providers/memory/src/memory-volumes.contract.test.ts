import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { volumesSuite, type VolumesSubject } from '../../../packages/cloud-runtime/src/volumes.suite.ts';
import { createMemoryCloud, createMemoryProvider, serveMemoryCloud, type MemoryCloud } from './index.ts';

async function subjectOf(cloud: MemoryCloud, over: 'process' | 'http'): Promise<VolumesSubject> {
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
  const control = async (method: 'POST' | 'DELETE', path: string, body?: object): Promise<void> => {
    if (!served) return;
    const init = { method, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${served.endpoint}/control/volumes${path}`, init);
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  };
  return {
    opened,
    zones: cloud.zones,
    createVolume: async (id, zones) => {
      if (served) await control('POST', '', { id, zones });
      else cloud.createVolume({ id, zones });
      return { name: id, uid: `uid-${id}`, source: 'flexVolume', driver: 'outrigger.dev/memory', handle: id };
    },
    deleteVolume: async (id) => {
      if (served) await control('DELETE', `/${id}`);
      else cloud.deleteVolume(id);
    },
    fail: async (status) => cloud.setFaults(status === 0 ? [] : [{ effect: 'status', status }]),
    requests: async () => cloud.calls().total,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await served?.[Symbol.asyncDispose]();
    },
  };
}

for (const over of ['process', 'http'] as const) {
  volumesSuite(`memory, over ${over}`, () =>
    subjectOf(createMemoryCloud({ clock: systemClock, random: () => 0 }), over),
  );
}
