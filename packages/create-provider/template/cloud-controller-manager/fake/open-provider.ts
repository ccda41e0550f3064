/** The provider, opened by Outrigger's own host over a fake cloud: what the tests ask. */
import assert from 'node:assert/strict';
import type { CallContext, Capabilities, NodeRef } from '@outrigger/cloud-provider';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock } from '@outrigger/kube';
import type { RunningFakeCloud } from '@outrigger/provider-kit/fake';
import makeProvider from '../src/provider.ts';
import { configOf, startFake } from './fake-cloud.ts';

export interface ProviderOnFake extends AsyncDisposable {
  readonly cloud: RunningFakeCloud;
  readonly call: CallContext;
  /** The capability, which has to be there. */
  of<Name extends keyof Capabilities>(name: Name): NonNullable<Capabilities[Name]>;
}

export const CLUSTER = { id: 'cluster', name: 'test' } as const;

export async function openOnFake(): Promise<ProviderOnFake> {
  const cloud = await startFake(systemClock);
  const opened = await openProvider(makeProvider(), {
    cluster: CLUSTER,
    clock: systemClock,
    logger: silentLogger,
    random: () => 0,
    budget: { maxAttempts: 1, buckets: { default: { qps: 10_000 } } },
    config: configOf(cloud.endpoint),
  });
  return {
    cloud,
    call: opened.callContext({ signal: new AbortController().signal, priority: 'normal' }),
    of: (name) => {
      const capability = opened.capabilities[name];
      assert.ok(capability, `the provider has ${name}`);
      return capability;
    },
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await cloud[Symbol.asyncDispose]();
    },
  };
}

/** As the kubelet on the machine of this name registers it; with a provider ID, as the host knows it afterwards. */
export function nodeOf(name: string, providerID?: string): NodeRef {
  return { name, uid: `uid-of-${name}`, labels: {}, annotations: {}, ...(providerID && { providerID }) };
}
