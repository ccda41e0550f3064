import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HealthChecks } from './health-checks.ts';

function failing(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

test('healthy answers ok, or all names when asked', async () => {
  const health = new HealthChecks();
  health.add({ name: 'leaderElection', check: () => {} });
  assert.deepEqual(await health.run('healthz'), { healthy: true, text: 'ok', failures: [] });
  const verbose = await health.run('healthz', { verbose: true });
  assert.equal(verbose.text, '[+]ping ok\n[+]leaderElection ok\nhealthz check passed\n');
});

test('a failure names the check and withholds the reason', async () => {
  const health = new HealthChecks();
  health.add({ name: 'cloud', check: () => Promise.reject(new Error('token hunter2 refused')) });
  const report = await health.run('readyz');
  assert.equal(report.healthy, false);
  assert.equal(report.text, '[+]ping ok\n[-]cloud failed: reason withheld\nreadyz check failed\n');
  assert.equal(report.failures[0]?.name, 'cloud');
});

test('excluded checks are not run; excluding what is not there is said', async () => {
  const health = new HealthChecks();
  health.add({ name: 'cloud', check: failing('must not run') });
  const report = await health.run('healthz', { exclude: ['cloud', 'clod'], verbose: true });
  assert.equal(report.healthy, true);
  assert.match(report.text, /\[\+\]cloud excluded: ok\n/u);
  assert.match(report.text, /cannot be excluded: no matches for "clod"\n/u);
});

test('livez and readyz run the checks of their kind, healthz all', async () => {
  const health = new HealthChecks();
  health.add({ name: 'synced', kinds: ['ready'], check: failing('not yet') });
  assert.equal((await health.run('livez')).healthy, true);
  assert.equal((await health.run('readyz')).healthy, false);
  assert.equal((await health.run('healthz')).healthy, false);
  assert.equal(await health.runOne('livez', 'synced'), undefined);
  assert.equal((await health.runOne('readyz', 'synced'))?.healthy, false);
  assert.equal((await health.runOne('readyz', 'ping'))?.text, 'ok');
});

test('a check that passes may say more, in the verbose page alone', async () => {
  const health = new HealthChecks();
  const failing: string[] = [];
  health.add({ name: 'cloud-a', kinds: ['ready'], check: () => {}, detail: () => failing[0] });
  assert.match((await health.run('readyz', { verbose: true })).text, /^\[\+\]cloud-a ok$/mu);
  failing.push('failing: unauthenticated');
  const report = await health.run('readyz', { verbose: true });
  assert.deepEqual(
    [report.healthy, /^\[\+\]cloud-a ok \(failing: unauthenticated\)$/mu.test(report.text)],
    [true, true],
  );
  assert.equal((await health.run('readyz')).text, 'ok');
});

test('a check can be taken back, and a name is given once', async () => {
  const health = new HealthChecks();
  const remove = health.add({ name: 'cloud', check: failing('x') });
  assert.throws(() => health.add({ name: 'cloud', check: () => {} }), /cloud exists already/u);
  remove();
  assert.equal((await health.run('healthz')).healthy, true);
});
