import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Instance, NodeRef } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { bareHost, CALL } from './bare-host.suite.ts';
import { createMemoryCloud, createMemoryProvider } from './index.ts';

const NODE: NodeRef = { name: 'n', uid: 'u', providerID: 'memory://region-1/n', labels: {}, annotations: {} };

test('maintenance is in both answers about a machine while there is any', async () => {
  const clock = new FakeClock();
  const cloud = createMemoryCloud({ clock, random: () => 0 });
  const { instances } = await createMemoryProvider({ cloud }).open(bareHost(clock));
  assert.ok(instances);
  const said = async (): Promise<readonly Instance['maintenance'][]> => {
    const answers = [
      ...(await instances.lookUp([NODE], 'metadata', CALL)),
      await instances.read(NODE, 'metadata', CALL),
    ];
    return answers.map(({ result }) => {
      assert.ok(result.kind === 'found');
      return result.instance.maintenance;
    });
  };
  cloud.createInstance({ name: 'n' });
  assert.deepEqual(await said(), [undefined, undefined]);
  const planned = { state: 'planned', notBefore: 1_000, reason: 'new firmware' } as const;
  cloud.updateInstance('n', { maintenance: planned });
  assert.deepEqual(await said(), [planned, planned]);
  cloud.updateInstance('n', { maintenance: null });
  assert.deepEqual(await said(), [undefined, undefined]);
});
