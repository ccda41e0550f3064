import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type NodeRef } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, serveMemoryCloud } from './index.ts';

for (const over of ['process', 'http'] as const) {
  test(`memory, over ${over}: machines get ranges for pods, each once, and show them`, async () => {
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
    await using owned = new AsyncDisposableStack();
    const served = over === 'http' ? owned.use(await serveMemoryCloud(cloud)) : undefined;
    const opened = owned.use(
      await openProvider(createMemoryProvider(served ? {} : { cloud }), {
        cluster: { id: 'cluster-1', name: 'test' },
        clock: systemClock,
        logger: silentLogger,
        random: () => 0,
        budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
        config: served && { fileName: 'cloud.json', text: JSON.stringify({ endpoint: served.endpoint }) },
      }),
    );
    const { instances, podRanges } = opened.capabilities;
    assert.ok(instances && podRanges);
    const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
    const node = (name: string): NodeRef => {
      const { providerID } = cloud.createInstance({ name });
      return { name, uid: `uid-${name}`, providerID, labels: {}, annotations: {} };
    };
    const [a, b] = [node('a'), node('b')];
    const assign = async (...requests: readonly (readonly [NodeRef, ...string[]])[]): Promise<readonly string[]> => {
      const results = await podRanges.assign(
        requests.map(([one, ...podCidrs]) => ({ node: one, podCidrs })),
        call,
      );
      return results.map((result) => {
        if (result.kind !== 'failed') return result.kind;
        assert.ok(isCloudError(result.error));
        return result.error.code;
      });
    };

    assert.deepEqual(await assign([a, '10.0.0.0/24', 'fd00::/64'], [b, '10.0.0.128/25']), ['done', 'conflict']);
    assert.deepEqual(await assign([a, '10.0.0.0/24', 'fd00::/64'], [a, '10.0.2.0/24']), ['exists', 'conflict']);
    assert.deepEqual(await assign([b, 'fd00::/63'], [b, '10.0.1.0/24']), ['conflict', 'done']);
    assert.deepEqual(await assign([{ ...b, providerID: 'memory://r/none' }, '10.0.3.0/24']), ['not-found']);
    const answers = await instances.lookUp([a, b], 'metadata', call);
    assert.deepEqual(
      answers.map(({ result }) => (result.kind === 'found' ? result.instance.podCidrs : result.kind)),
      [['10.0.0.0/24', 'fd00::/64'], ['10.0.1.0/24']],
    );
  });
}
