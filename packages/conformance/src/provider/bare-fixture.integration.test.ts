/** A fixture of four members, by the machine's own clock: what an author begins with. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRef } from '@outrigger/cloud-provider';
import { systemClock } from '@outrigger/kube';
import { createMemoryCloud, createMemoryProvider, type MemoryCloud } from '@outrigger/provider-memory';
import type { ConformanceTest } from './conformance-test.ts';
import { LoadBalancerUser } from './load-balancer-user.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import type { ProviderRig } from './provider-rig.ts';
import { providerTests } from './provider-tests.ts';
import { runProviderTests } from './run-provider-tests.ts';

type BareFixture = ProviderFixture & { readonly cloud: MemoryCloud };

async function fixture(cloud = createMemoryCloud({ clock: systemClock, random: () => 0 })): Promise<BareFixture> {
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

const provider = ({ cloud }: BareFixture): ReturnType<typeof createMemoryProvider> => createMemoryProvider({ cloud });

/** Makes a load balancer; then `next`. */
function making(next: (rig: ProviderRig) => Promise<void>): ConformanceTest {
  const run = async (rig: ProviderRig): Promise<void> => {
    const user = new LoadBalancerUser(rig);
    await user.bring(user.desired(user.service('made'), [await rig.createBackEnd('a')]));
    await next(rig);
  };
  return { name: 'provider / makes', feature: 'provider', source: 'somewhere', run };
}

function leftIn(cloud: MemoryCloud): readonly unknown[] {
  return [...cloud.parts(), ...cloud.instances()];
}

test('a run that is stopped takes away what it has made, also what is just being made, and judges nothing', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const stop = new AbortController();
  const slow = async (): Promise<BareFixture> => {
    const own = await fixture(cloud);
    const createMachine = async (name: string): Promise<NodeRef> => {
      if (name.startsWith('slow')) {
        stop.abort(new Error('SIGINT'));
        await systemClock.sleep(50);
      }
      return own.createMachine(name);
    };
    return { ...own, createMachine };
  };
  const left: string[] = [];
  const { results } = await runProviderTests(
    { provider, fixture: slow },
    {
      tests: [making(async (rig) => void (await rig.createMachine('slow'))), making(async () => {})],
      signal: stop.signal,
      onLeft: (line) => left.push(line),
    },
  );
  assert.deepEqual(
    results.map(({ outcome, reason }) => [outcome, reason]),
    [['unverifiable', 'the run was stopped']],
  );
  assert.deepEqual([left, leftIn(cloud)], [[], []]);
});

test('a test that takes too long fails, and what it has made is gone before the next one begins', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const waits = making((rig) => rig.wait(60_000));
  const next = { ...waits, run: async () => assert.deepEqual(leftIn(cloud), []) };
  const { results } = await runProviderTests(
    { provider, fixture: () => fixture(cloud) },
    { tests: [waits, next], testTimeoutMs: 5_000 },
  );
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['failed', 'passed'],
    results.map(({ reason }) => reason).join('\n'),
  );
  assert.match(results[0]?.reason ?? '', /within 5000 ms/u);
});

test('between two processes, too, what was made is taken away; what cannot be is told', async () => {
  const cloud = createMemoryCloud({ clock: systemClock, random: () => 0 });
  const stubborn = async (): Promise<BareFixture> => {
    const own = await fixture(cloud);
    return { ...own, deleteMachine: () => Promise.reject(new Error('the account is locked')) };
  };
  const left: string[] = [];
  await runProviderTests(
    { provider, fixture: stubborn },
    {
      tests: [
        making(async (rig) => {
          await rig.close();
          throw new Error('it does not start again');
        }),
      ],
      onLeft: (line) => left.push(line),
    },
  );
  assert.deepEqual(cloud.parts(), []);
  assert.match(left.join('\n'), /^machine a-[0-9a-f]{8}: the account is locked$/u);
});

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
  const { results } = await runProviderTests({ provider, fixture: () => fixture() }, { tests });
  assert.deepEqual(
    results.map(({ outcome }) => outcome),
    ['unverifiable', 'passed', 'passed', 'passed', 'passed', 'unverifiable'],
    results.map(({ reason }) => reason).join('\n'),
  );
});
