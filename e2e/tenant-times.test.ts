import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noTimes, type Step, type Times } from './honest-cluster.ts';
import { slowerSteps, timesText, type TimesOfPhases } from './tenant-times.ts';

const STEPS: readonly Step[] = ['node joins', 'service is served', 'service is changed', 'service is gone'];

/** Of each step and of the bare client 40 turns of ten objects each; the slow ones are of `step`. */
function timesOf(usualMs: number, slow: { readonly turns: number; readonly ms: number; readonly step?: Step }): Times {
  const { step = 'node joins', turns, ms } = slow;
  const all = noTimes();
  for (const one of [...STEPS, 'bare'] as const)
    for (let turn = 0; turn < 40; turn++)
      all[one].push(...Array.from({ length: 10 }, () => (one === step && turn < turns ? ms : usualMs)));
  return all;
}

const round = (turns: number, ms: number, step?: Step): TimesOfPhases => ({
  alone: timesOf(200, { turns: 0, ms: 0 }),
  neutral: timesOf(200, { turns: 0, ms: 0 }),
  attacked: timesOf(210, { turns, ms, ...(step && { step }) }),
});

test('a step that takes longer than half as long again is told of, in the middle and at the slow end', () => {
  assert.deepEqual(slowerSteps([round(0, 0)]), []);
  assert.deepEqual(slowerSteps([round(1, 400)]), [], 'one turn of forty is less than one of twenty');
  assert.deepEqual(slowerSteps([round(2, 300)]), []);
  assert.deepEqual(slowerSteps([round(2, 301)]), ['node joins, 95 %: 1.50 times as long, not 1.5']);
  assert.deepEqual(slowerSteps([round(21, 400, 'service is gone')]), [
    'service is gone, 50 %: 2.00 times as long, not 1.5',
    'service is gone, 95 %: 2.00 times as long, not 1.5',
  ]);
});

test('of several rounds all objects are judged together', () => {
  assert.deepEqual(slowerSteps([round(2, 400), round(1, 400)]), []);
  assert.deepEqual(slowerSteps([round(2, 400), round(2, 400)]), ['node joins, 95 %: 2.00 times as long, not 1.5']);
});

test('a line each step says how many objects, and both ratios', () => {
  assert.deepEqual(timesText([round(3, 400), round(0, 0)]).split('\n  '), [
    '',
    'node joins: 0.21/0.21/0.40 s attacked (800), 0.20/0.20/0.20 s beside neutral writes (800; × 1.05/1.05), 0.20/0.20/0.20 s alone (800; × 1.05/1.05)',
    ...STEPS.slice(1).map(
      (step) =>
        `${step}: 0.21/0.21/0.21 s attacked (800), 0.20/0.20/0.20 s beside neutral writes (800; × 1.05/1.05), 0.20/0.20/0.20 s alone (800; × 1.05/1.05)`,
    ),
    "bare client's node: 0.21/0.21/0.21 s attacked (800; a join takes × 1.00/1.00), 0.20/0.20/0.20 s beside neutral writes (800; a join takes × 1.00/1.00), 0.20/0.20/0.20 s alone (800; a join takes × 1.00/1.00)",
  ]);
  const alone = { alone: noTimes(), neutral: noTimes(), attacked: timesOf(210, { turns: 0, ms: 0 }) };
  assert.equal(timesText([alone]).split('\n  ')[1], 'node joins: 0.21/0.21/0.21 s attacked (400)');
});
