import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type InstanceAnswer } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import type { FaultRule } from '../../fake/fault-rules.ts';
import { idOf } from '../load-balancer/desired/tree-inputs.suite.ts';
import { nodeOf, openFakeCluster } from './fake-cluster.suite.ts';

// Not 429, after which the call budget waits for the clock: the contract suite has it.
const effect = fc.oneof(
  fc
    .constantFrom(...([400, 401, 403, 404, 409, 410, 413, 500, 502, 503, 504] as const))
    .chain((status) => fc.constantFrom<FaultRule>({ effect: 'status', status }, { effect: 'proxy', status })),
  fc.constantFrom<FaultRule>({ effect: 'refused' }, { effect: 'lost' }, { effect: 'cut' }, { effect: 'empty' }),
);
const rule = fc.record({
  effect,
  service: fc.constantFrom('identity', 'compute', 'network'),
  nth: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
});

test('property: whatever the services and what is before them answer, no live server is absent', async () => {
  await using cluster = await openFakeCluster();
  const { clock, cloud, opened, seeded } = cluster;
  // Pages of three: a fault may hit any of them.
  cloud.compute.maxLimit = 3;
  const names = Array.from({ length: 8 }, (_, at) => `node-${at}`);
  for (const [at, name] of names.entries()) seeded.addNode({ name, id: idOf(name), cell: `cell-${at % 2}` });
  const { instances } = opened.capabilities;
  assert.ok(instances);
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const failures = new Set<string>();
  const nodes = [...names.map((name) => nodeOf(name, idOf(name))), ...names.map((name) => nodeOf(name))];
  await fc.assert(
    fc.asyncProperty(
      fc.array(rule, { minLength: 1, maxLength: 4 }),
      fc.subarray(['cell-0', 'cell-1'], { maxLength: 1 }),
      fc.subarray(nodes, { minLength: 1 }),
      fc.constantFrom('state', 'metadata'),
      async (rules, cells, asked, need) => {
        cloud.faults.set(
          ...rules.map(({ effect: fault, service, nth }) => ({ ...fault, service, ...(nth && { nth }) })),
        );
        for (const cell of cells) cloud.compute.loseCell(cell);
        // Whoever was told to wait, has.
        await clock.advance(60_000);
        const answers = await instances.lookUp(asked, need, call).catch(() => [] as readonly InstanceAnswer[]);
        const reads = await Promise.allSettled(asked.map((node) => instances.read(node, need, call)));
        for (const one of reads) {
          if (one.status === 'rejected') failures.add(isCloudError(one.reason) ? one.reason.code : String(one.reason));
          else assert.notEqual(one.value.result.kind, 'absent');
        }
        for (const { result } of answers) assert.notEqual(result.kind, 'absent');
        for (const cell of cells) cloud.compute.restoreCell(cell);
      },
    ),
  );
  // The faults did arrive, each as an error with a code.
  assert.ok(failures.has('unavailable'), [...failures].join(', '));
  assert.deepEqual(
    [...failures].filter((one) => one.includes(' ')),
    [],
  );
  cloud.faults.set();
  await clock.advance(60_000);
  const answers = await instances.lookUp(nodes, 'metadata', call);
  assert.ok(answers.every(({ result }) => result.kind === 'found'));
});

test('a cell that is lost between two pages makes nothing absent', async () => {
  await using cluster = await openFakeCluster();
  const { cloud, opened, seeded } = cluster;
  cloud.compute.maxLimit = 10;
  const names = Array.from({ length: 100 }, (_, at) => `node-${at}`);
  for (const [at, name] of names.entries()) seeded.addNode({ name, id: idOf(name), cell: `cell-${at % 2}` });
  const nodes = names.map((name) => nodeOf(name, idOf(name)));
  const { instances } = opened.capabilities;
  assert.ok(instances);
  const call = opened.callContext({ signal: new AbortController().signal, priority: 'normal' });
  const kinds = async (): Promise<Record<string, number>> => {
    const groups = Object.groupBy(await instances.lookUp(nodes, 'state', call), ({ result }) => result.kind);
    return Object.fromEntries(Object.entries(groups).map(([kind, answers]) => [kind, answers.length]));
  };
  assert.deepEqual(await kinds(), { found: 100 });
  cloud.faults.set({ effect: 'run', run: () => cloud.compute.loseCell('cell-1'), service: 'compute', nth: 5 });
  const { absent = 0, found = 0, failed = 0, missing = 0 } = await kinds();
  assert.equal(absent, 0);
  assert.equal(failed, 20, 'asked for one by one: UNKNOWN');
  assert.ok(found >= 50 && found < 80 && missing > 0, `found ${found}, missing ${missing}`);
  cloud.compute.restoreCell('cell-1');
  assert.deepEqual(await kinds(), { found: 100 });
});
