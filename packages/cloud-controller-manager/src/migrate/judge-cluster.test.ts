import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { judgeCluster, migrationSteps, readsOf } from './judge-cluster.ts';
import { TABLE } from './cluster-table.suite.ts';
import { TARGET, UNSEEN, apiServer, besides, cluster, lease, manager, outrigger } from './observed-cluster.suite.ts';
import type { ObservedCluster } from './observed-cluster.ts';

function statesOf(observed: ObservedCluster, target = TARGET): Readonly<Record<string, string>> {
  return Object.fromEntries(judgeCluster(observed, target).map(({ state, step }) => [step, state]));
}

const readings = ['nodes', 'leases', 'programs', 'apiServerFlags', 'csiNodes', 'volumes', 'services', 'plans'] as const;
const READY = Object.fromEntries(migrationSteps.map(({ name }) => [name, name === 'hand-over' ? 'missing' : 'ok']));

test('a cluster that is ready lacks the hand-over alone, and nothing once that is done', () => {
  assert.deepEqual(statesOf(cluster()), READY);
  const after = cluster({
    pods: [manager, apiServer, outrigger],
    leases: [lease('cloud-controller-manager', 'cp-2_9')],
  });
  assert.deepEqual(new Set(Object.values(statesOf(after))), new Set(['ok']));
});

for (const [what, observed, differences, words] of TABLE) {
  test(`a cluster with ${what}`, () => {
    const steps = judgeCluster(observed, TARGET);
    const states = Object.fromEntries(steps.map(({ state, step }) => [step, state]));
    assert.deepEqual(states, { ...READY, ...differences }, JSON.stringify(steps, undefined, 1));
    assert.match(JSON.stringify(steps), words);
  });
}

test('provider IDs and owners of another provider than the one that is named are told', () => {
  const states = statesOf(cluster(), { ...TARGET, providerName: 'memory' });
  assert.deepEqual(states, { ...READY, nodes: 'missing' });
});

test('a Lease that a configuration file may name is not said to be another one', () => {
  const acme = '--leader-elect-resource-name=acme';
  const of = (...args: readonly string[]): string | undefined =>
    statesOf(besides([acme], ...args), { ...TARGET, leaseName: 'acme' })['beside'];
  assert.deepEqual([of(acme), of('--config=/x'), of()], ['ok', 'unknown', 'missing']);
});

test('whatever could not be seen, no step that needs it is ok', () => {
  // By step: without any of these there is no telling. The API server has two ways to say its flags: both.
  const needs: Readonly<Record<string, readonly (readonly (keyof ObservedCluster)[])[]>> = {
    'kube-controller-manager': [['programs']],
    'kube-apiserver': [['programs', 'apiServerFlags']],
    volumes: [['volumes']],
    kubelets: [['nodes']],
    nodes: [['nodes']],
    services: [['services']],
    'load-balancers': [['plans']],
    leader: [['leases']],
    beside: [['programs']],
    'hand-over': [['programs'], ['leases']],
    'one-first': [['programs'], ['leases']],
    'node-ipam': [['programs']],
  };
  assert.deepEqual(Object.keys(needs).toSorted(), migrationSteps.map(({ name }) => name).toSorted());
  const done = cluster({
    pods: [manager, apiServer, outrigger],
    leases: [lease('cloud-controller-manager', 'cp-2_9')],
  });
  fc.assert(
    fc.property(
      fc.constantFrom(done, ...TABLE.map(([, observed]) => observed)),
      fc.subarray([...readings], { minLength: 1 }),
      (observed, hidden) => {
        const states = statesOf({ ...observed, ...Object.fromEntries(hidden.map((name) => [name, UNSEEN])) });
        for (const [step, sets] of Object.entries(needs)) {
          const isBlind = sets.some((set) => set.every((name) => (hidden as readonly string[]).includes(name)));
          if (isBlind) assert.notEqual(states[step], 'ok', `${step} without ${hidden.join(', ')}`);
        }
      },
    ),
  );
});

test('one reason for which nothing is seen is said once', () => {
  const steps = judgeCluster(cluster({}, { programs: UNSEEN, apiServerFlags: UNSEEN }), TARGET);
  const text = `the flags of kube-apiserver could not be seen: ${UNSEEN.why}"`;
  assert.ok(JSON.stringify(steps).includes(text));
});

test('a step is judged by what it says it reads', () => {
  for (const [what, observed] of [['ready', cluster()] as const, ...TABLE]) {
    const whole = judgeCluster(observed, TARGET);
    for (const [index, { name }] of migrationSteps.entries()) {
      const reads = readsOf([name]);
      const hidden = readings.filter((one) => !reads.has(one)).map((one) => [one, UNSEEN] as const);
      const kubelets = reads.has('kubelets') ? observed.kubelets : new Map();
      const [alone] = judgeCluster({ ...observed, ...Object.fromEntries(hidden), kubelets }, TARGET, [name]);
      assert.deepEqual(alone, whole[index], `${name}: ${what}`);
    }
  }
});

test('each step is a heading of the guide', () => {
  const guide = readFileSync(new URL('../../../../docs/guides/migrate/README.md', import.meta.url), 'utf8');
  const headings = [...guide.matchAll(/^#+ (.+)$/gmu)].map(([, heading]) => heading);
  for (const { heading } of migrationSteps) assert.ok(headings.includes(heading), heading);
});
