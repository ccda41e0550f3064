/** A fixture of four members, by the machine's own clock: what an author begins with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';
import type { ProviderFixture } from './provider-fixture.ts';
import { providerTests } from './provider-tests.ts';
import { runProviderTests } from './run-provider-tests.ts';

async function fixture(): Promise<ProviderFixture & { readonly cloud: MemoryCloud }> {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  return {
    cloud,
    createMachine: async (name) => {
      cloud.createInstance({ name });
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async ({ name }) => void cloud.updateInstance(name, { state: 'shutdown' }),
    deleteMachine: async ({ name }) => void cloud.deleteInstance(name),
    listMachines: async () => cloud.instances().map(({ name }) => name),
    [Symbol.asyncDispose]: async () => {},
  };
}

test('a request that hangs does not end the run; what needs a hook is unverifiable', async () => {
  const names = [
    'provider / each request goes through call.call',
    'instances / a cloud that does not answer is no proof: the call ends at its deadline',
    'instances / a call that is aborted ends at once, and proves nothing',
    'load-balancers / what is taken away is gone, and nothing is left',
    'routes / removing is idempotent, and takes what was asked for alone',
    'volumes / answers come in the order of the question',
  ];
  const tests = providerTests.filter(({ name }) => names.includes(name));
  const { results } = await runProviderTests(
    { provider: ({ cloud }) => createMemoryProvider({ cloud }), fixture },
    { tests },
  );
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['unverifiable', 'passed', 'passed', 'passed', 'passed', 'unverifiable'],
    results.map(({ reason }) => reason).join('\n'),
  );
});
