/** A provider that takes few at once: the suite gives it no more, as the host does. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Capabilities, CloudProvider } from '@outrigger/cloud-provider';
import { createMemoryProvider } from '@outrigger/provider-memory';
import { memoryFixture, type MemoryFixture } from '../../../../providers/memory/src/memory-fixture.suite.ts';
import { withMembers } from './mutants/mutant.suite.ts';
import { providerTests } from './provider-tests.ts';
import { runProviderTests } from './run-provider-tests.ts';

const MOST = 2;

/** A capability whose methods of these names reject when they are given more than it says it takes. */
function narrow<T extends object>(capability: T, ...methods: readonly (keyof T)[]): T {
  const guarded = methods.map((name) => {
    const own = (capability[name] as (...args: readonly unknown[]) => Promise<unknown>).bind(capability);
    const guard = async (many: readonly unknown[], ...rest: readonly unknown[]): Promise<unknown> => {
      if (many.length > MOST) throw new Error(`${String(name)} takes ${MOST} at most, and got ${many.length}`);
      return own(many, ...rest);
    };
    return [name, guard];
  });
  return withMembers(capability, { batchSize: MOST, ...Object.fromEntries(guarded) } as Partial<T>);
}

function narrowProvider({ cloud }: MemoryFixture): CloudProvider {
  const own = createMemoryProvider({ cloud });
  return {
    ...own,
    open: async (host) => {
      const { instances, loadBalancers, podRanges, routes, volumes } = (await own.open(host)) as Required<Capabilities>;
      assert.ok(instances && loadBalancers && podRanges && routes && volumes);
      return {
        instances: narrow(instances, 'lookUp'),
        loadBalancers: narrow(loadBalancers, 'observe'),
        podRanges: narrow(podRanges, 'assign'),
        routes: narrow(routes, 'create', 'delete'),
        volumes: narrow(volumes, 'lookUp'),
      };
    },
  };
}

test('no capability is given more at once than it says it takes', async () => {
  const names = [
    'instances / a part of a list is never taken for all of it',
    'instances / answers come in the order of the question, one for each node',
    'load-balancers / looks answer in the order of the Services, also of those that have nothing',
    'load-balancers / many at the same time come and go, each with what it needs',
    'routes / routes of both families are made in a batch, and listed as made',
    'routes / batches at the same time harm each other in nothing',
    'volumes / answers come in the order of the question',
    'pod-ranges / no two machines have a part of one range',
  ];
  const tests = providerTests.filter(({ name }) => names.includes(name));
  assert.equal(tests.length, names.length);
  const { results } = await runProviderTests(
    { provider: narrowProvider, fixture: () => memoryFixture('process') },
    { tests },
  );
  assert.deepEqual(
    results.filter(({ outcome }) => outcome !== 'passed').map(({ name, reason }) => `${name}: ${reason}`),
    [],
  );
});
