import assert from 'node:assert/strict';
import { test } from 'node:test';
import { effectOf } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { GroupCommit } from './group-commit.ts';
import { BAD, FOREIGN, hostWith, set, SharedObject, type Fault } from './shared-object.suite.ts';

interface Step {
  readonly afterMs: number;
  readonly isBad: boolean;
  /** When its caller gives up. */
  readonly abortMs: number | undefined;
}

interface Told {
  readonly name: string;
  readonly value: number;
  readonly step: Step;
  readonly result: 'done' | 'none' | 'unknown';
}

const MOST = 3;
const step: fc.Arbitrary<Step> = fc.record({
  afterMs: fc.integer({ min: 0, max: 400 }),
  isBad: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
  abortMs: fc.option(fc.integer({ min: 0, max: 600 }), { nil: undefined, freq: 3 }),
});
const fault = fc.constantFrom<Fault>('none', 'none', 'before', 'after', 'late', 'foreign', 'throttled', 'unread');

async function play(
  services: readonly (readonly Step[])[],
  faults: readonly Fault[],
): Promise<{ readonly object: SharedObject; readonly told: readonly Told[] }> {
  const clock = new FakeClock();
  const host = hostWith(clock);
  const object = new SharedObject(clock, faults);
  const commits = new GroupCommit({ host, objects: object, maxChanges: MOST });
  const told: Told[] = [];
  const all = services.map(async (steps, i) => {
    // One change of a Service after the other, as the host asks for them.
    for (const [n, one] of steps.entries()) {
      await clock.sleep(one.afterMs);
      const [name, value] = [`service-${i}`, one.isBad ? BAD - n : n + 1];
      const abort = new AbortController();
      if (one.abortMs !== undefined) clock.setTimer(one.abortMs, () => abort.abort());
      const result = await commits.change('lb', set(name, value), host.callContext({ signal: abort.signal })).then(
        (state) => {
          assert.equal(state[name], value);
          return 'done' as const;
        },
        (error: unknown) => effectOf(error),
      );
      told.push({ name, value, step: one, result });
    }
  });
  await clock.advance(300_000);
  await Promise.all(all);
  return { object, told };
}

const histories = fc.array(fc.array(step, { maxLength: 4 }), { minLength: 1, maxLength: 7 });

test('property: amid faults and aborts nothing is lost, nothing applied twice or out of order, and each is told the truth', async () => {
  await fc.assert(
    fc.asyncProperty(histories, fc.array(fault, { maxLength: 12 }), async (services, faults) => {
      const { object, told } = await play(services, faults);
      const effects = object.effects.flat().filter(([name]) => name !== FOREIGN);
      assert.equal(told.length, services.flat().length, 'each caller is answered');
      for (const { name, value, result } of told) {
        const times = effects.filter(([one, to]) => one === name && to === value).length;
        if (result === 'done') assert.equal(times, 1);
        else if (result === 'none') assert.equal(times, 0);
        else assert.ok(times <= 1);
      }
      for (const [i] of services.entries()) {
        const values = effects.filter(([name]) => name === `service-${i}`).map(([, value]) => value);
        assert.deepEqual(
          values,
          values.toSorted((a, b) => a - b),
        );
      }
      assert.ok(object.effects.every((effect) => effect.length <= MOST));
      const foreign = object.effects.filter(([effect]) => effect?.[0] === FOREIGN).length;
      assert.equal(object.settings[FOREIGN] ?? 0, foreign, 'what somebody else wrote stays');
    }),
    { numRuns: 400 },
  );
});

test('property: where the cloud is well, only what is wrong itself fails, however it was gathered', async () => {
  await fc.assert(
    fc.asyncProperty(histories, async (services) => {
      const { told } = await play(services, []);
      for (const { result, step } of told) {
        if (step.isBad) assert.notEqual(result, 'done');
        else if (step.abortMs === undefined) assert.equal(result, 'done');
      }
    }),
    { numRuns: 200 },
  );
});
