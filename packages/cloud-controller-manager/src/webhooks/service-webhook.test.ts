import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LoadBalancers } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { createServiceWebhook } from './service-webhook.ts';

const object = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP', nodePort: 30_080 }] },
};

type Asked = Parameters<OpenedProvider['callContext']>[0];

/** With what the cloud was asked for one review. */
async function asked(isTrusted: boolean): Promise<readonly Asked[]> {
  const calls: Asked[] = [];
  // The review ends at the first question; what it asks with is all that counts here.
  const provider = {
    name: 'memory',
    capabilities: {
      loadBalancers: { validate: () => Promise.resolve({}), classes: [], annotations: [] } as unknown as LoadBalancers,
    },
    callContext: (options: Asked): never => {
      calls.push(options);
      throw new Error('asked');
    },
  };
  const { signal } = new AbortController();
  const webhook = createServiceWebhook({ isTrusted, logger: silentLogger, providers: [provider], signal });
  await assert.rejects(
    webhook.answer({ uid: 'x', operation: 'CREATE', dryRun: false, object, oldObject: undefined }, signal),
    /asked/u,
  );
  return calls;
}

test('a review of which nobody knows who sent it goes before no Service in the cloud, and is noted of none', async () => {
  const [known] = await asked(true);
  const [unknown] = await asked(false);
  assert.deepEqual([known?.priority, known?.about], ['critical', ['uid-1']]);
  assert.deepEqual([unknown?.priority, unknown?.about], ['normal', []]);
});
