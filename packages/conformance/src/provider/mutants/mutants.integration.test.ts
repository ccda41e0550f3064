/** Each mutant of the memory provider is killed by the test that is named for it, and the provider itself is not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudProvider } from '@outrigger/cloud-provider';
import { createMemoryProvider } from '@outrigger/provider-memory';
import { memoryFixture, type MemoryFixture } from '../../../../../providers/memory/src/memory-fixture.suite.ts';
import { providerTests } from '../provider-tests.ts';
import { runProviderTest } from '../run-provider-tests.ts';
import { instanceMutants } from './instance-mutants.suite.ts';
import { lifecycleMutants } from './lifecycle-mutants.suite.ts';
import { loadBalancerMutants } from './load-balancer-mutants.suite.ts';
import type { Mutant } from './mutant.suite.ts';
import { otherMutants } from './other-mutants.suite.ts';

const mutants: readonly Mutant[] = [...lifecycleMutants, ...instanceMutants, ...loadBalancerMutants, ...otherMutants];

function mutated({ cloud }: MemoryFixture, { change, over, provider = () => ({}) }: Mutant): CloudProvider {
  const own = createMemoryProvider(over === 'http' ? {} : { cloud });
  const changed: CloudProvider = {
    ...own,
    open: async (host) => {
      const capabilities = await own.open(host);
      return { ...capabilities, ...change(capabilities as Required<typeof capabilities>, { host, cloud }) };
    },
  };
  return { ...changed, ...provider(changed) };
}

test('mutants have names of their own, and each is for a test that there is', () => {
  const names = mutants.map(({ name, killedBy }) => `${killedBy}: ${name}`);
  assert.equal(new Set(names).size, names.length);
  const tests = new Set(providerTests.map(({ name }) => name));
  assert.deepEqual(
    mutants.filter(({ killedBy }) => !tests.has(killedBy)).map(({ killedBy }) => killedBy),
    [],
  );
  assert.ok(mutants.length >= 30, `${mutants.length} mutants`);
});

for (const mutant of mutants) {
  test(`killed: ${mutant.killedBy}: ${mutant.name}`, async (t) => {
    const one = providerTests.find(({ name }) => name === mutant.killedBy);
    assert.ok(one);
    const subject = {
      provider: (fixture: MemoryFixture) => mutated(fixture, mutant),
      fixture: () => memoryFixture(mutant.over ?? 'process'),
    };
    const { outcome, reason } = await runProviderTest(subject, one);
    assert.equal(outcome, 'failed', reason);
    t.diagnostic(reason ?? '');
  });
}
