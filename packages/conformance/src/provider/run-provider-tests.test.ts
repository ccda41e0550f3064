import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CloudProvider } from '@outrigger/cloud-provider';
import type { ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import { runProviderTests } from './run-provider-tests.ts';

const nobody = { name: 'a', uid: 'a', labels: {}, annotations: {} };
const fixture = async (): Promise<ProviderFixture> => ({
  createMachine: async () => nobody,
  stopMachine: async () => {},
  deleteMachine: async () => {},
  listMachines: async () => [],
  [Symbol.asyncDispose]: async () => {},
});
const provider = (): CloudProvider => ({ name: 'toy', open: async () => ({}), close: async () => {} });

function oneTest(name: string, more: Partial<ConformanceTest> = {}): ConformanceTest {
  return { name, feature: 'provider', source: 'somewhere', run: async () => {}, ...more };
}

test('what a test came to: passed, failed, skipped, unverifiable, each with its reason', async () => {
  const seen: string[] = [];
  const report = await runProviderTests(
    { provider, fixture },
    {
      onResult: ({ name }) => seen.push(name),
      tests: [
        oneTest('fine'),
        oneTest('wrong', { run: async () => assert.equal(1, 2, 'one is two') }),
        oneTest('thrown', { run: async () => Promise.reject(new CloudError('quota', 'no more\nof it')) }),
        oneTest('not declared', { declares: { what: 'routes', holds: ({ routes }) => routes !== undefined } }),
        oneTest('no hook', { hooks: ['lag'] }),
        oneTest('cannot tell', { run: async () => Promise.reject(new NotVerifiable('too far away')) }),
      ],
    },
  );
  assert.equal(report.subject.name, 'toy');
  assert.deepEqual(
    report.results.map(({ name, outcome, reason }) => [name, outcome, reason]),
    [
      ['fine', 'passed', undefined],
      ['wrong', 'failed', 'one is two'],
      ['thrown', 'failed', 'no more'],
      ['not declared', 'skipped', 'the provider does not declare routes'],
      ['no hook', 'unverifiable', 'the fixture has no lag'],
      ['cannot tell', 'unverifiable', 'too far away'],
    ],
  );
  assert.deepEqual(
    seen,
    report.results.map(({ name }) => name),
  );
  assert.ok(report.started <= report.finished);
});

test('a provider that cannot be opened fails each test, and one that never ends fails in time', async () => {
  const broken = (): CloudProvider => ({ ...provider(), open: () => Promise.reject(new Error('no config')) });
  const [result] = (await runProviderTests({ provider: broken, fixture }, { tests: [oneTest('fine')] })).results;
  assert.equal(result?.outcome, 'failed');
  assert.match(result?.reason ?? '', /opening the provider toy failed: no config/);
  const endless = oneTest('endless', { run: () => new Promise(() => {}) });
  const late = await runProviderTests({ provider, fixture }, { tests: [endless], testTimeoutMs: 50 });
  assert.equal(late.results[0]?.outcome, 'failed');
});

test('a run that is stopped says how many tests did not come to an end, one that is not says nothing', async () => {
  const stop = new AbortController();
  const tests = [
    oneTest('fine'),
    oneTest('cut off', {
      run: async () => {
        stop.abort();
        await new Promise(() => {});
      },
    }),
    oneTest('never begun'),
  ];
  const report = await runProviderTests({ provider, fixture }, { tests, signal: stop.signal, testTimeoutMs: 50 });
  assert.deepEqual(
    report.results.map(({ name, reason }) => [name, reason]),
    [
      ['fine', undefined],
      ['cut off', 'the run was stopped'],
    ],
  );
  assert.equal(report.stopped, '2 of 3 tests did not come to an end');
  const whole = await runProviderTests({ provider, fixture }, { tests: tests.slice(0, 1) });
  assert.ok(!('stopped' in whole));
});
