/** A part of `make fuzz` in each run of the tests: what was found before, and some recipes for all targets. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { timeOf, whyTooMuch, type Step } from './cost.ts';
import { grow, type Recipe } from './grow.ts';
import { oldDefects } from './old-defects.ts';
import { plantedTargets } from './planted-targets.ts';
import { recipeOf, recipes } from './recipe.ts';
import { targets } from './targets.ts';
import { RecipeTrial } from './try-recipe.ts';

const corpus = JSON.parse(readFileSync(new URL('corpus.json', import.meta.url), 'utf8')) as readonly (Recipe & {
  readonly target: string;
})[];

/** One thread for both tests, as each loads most of the product. */
const trial = new RecipeTrial();
after(() => trial[Symbol.asyncDispose]());

test('nothing that was found before costs more than its size again', async () => {
  for (const { target, ...recipe } of corpus) assert.equal(await trial.try(target, recipe), undefined);
});

test('no target costs more than the size of its text, for recipes of a fixed seed', async () => {
  const drawn = fc.sample(recipes, { seed: 1, numRuns: targets.length * 2 });
  for (const [at, recipe] of drawn.entries()) {
    const { name } = targets[at % targets.length] ?? { name: '' };
    assert.equal(await trial.try(name, recipe, [7_500, 15_000, 30_000, 60_000]), undefined);
  }
});

test('what costs too much each time is found, and a slow moment of the machine is not', async () => {
  await using threads = new RecipeTrial();
  const found = [];
  for (const { name } of plantedTargets) {
    // It ends at the first that tells, on most machines the third. The others are for a machine that is fast, or slow for a moment.
    const sizes = [1_875, 3_750, 7_500, 15_000, 30_000];
    if (await threads.try(name, { prefix: '', unit: 'a', suffix: '' }, sizes)) found.push(name);
  }
  assert.deepEqual(found, ['planted: takes the square of its size']);
});

for (const { memoryMb, name, sizes } of oldDefects) {
  test(`what the product once had is found in the first rounds: ${name}`, async () => {
    await using threads = new RecipeTrial({ memoryMb });
    for (let round = 0; round < 160; round++) {
      const recipe = recipeOf(round, 1);
      if (recipe && (await threads.try(name, recipe, sizes))) return;
    }
    assert.fail('not found');
  });
}

test('a recipe grows to the size that is asked for, each unit with a number of its own', () => {
  assert.equal(grow({ prefix: 'a', unit: 'bc', suffix: 'd' }, 8), 'abcbcbcd');
  assert.equal(grow({ prefix: '', unit: '{n},', suffix: '' }, 6), '0,1,2,');
});

test('what takes the square of its size is told from what does not, on a slow machine as on a fast one', () => {
  for (const slow of [1, 10]) {
    const judge = (cost: (size: number) => number): string | undefined =>
      whyTooMuch(
        [1_000, 2_000, 4_000, 8_000].map((size): Step => ({ size, ms: slow * cost(size) })),
        slow,
      );
    assert.ok(judge((size) => (size / 1_000) ** 2));
    assert.equal(
      judge((size) => size / 100),
      undefined,
    );
    assert.equal(
      judge((size) => (size / 1_000) * Math.log(size)),
      undefined,
    );
    assert.equal(
      judge((size) => (size / 10_000) ** 2),
      undefined,
      'too short to say',
    );
  }
  assert.match(whyTooMuch([{ size: 10, ms: 9_000 }], 1) ?? '', /a scan takes 1.00 ms/);
  assert.ok(timeOf(() => {}, 3) < 1_000);
});
