/**
 * `make fuzz MINUTES=n`: draws texts for all targets in turn until so much processor time is spent: in CI it has what tests leave. What is
 * found is printed as lines for `corpus.json`. `SEED=n` repeats a run, `TARGET=words` picks targets.
 */
import { systemRandom } from '@outrigger/kube';
import { recipeOf } from './recipe.ts';
import { targets } from './targets.ts';
import { RecipeTrial, type Finding } from './try-recipe.ts';

const minutes = Number(process.env['MINUTES'] || '1');
const seed = Number(process.env['SEED'] || Math.floor(systemRandom() * 2 ** 31));
const wanted = process.env['TARGET'] ?? '';
if (!(minutes > 0) || !Number.isInteger(seed)) {
  console.error(`MINUTES=${process.env['MINUTES']}, SEED=${process.env['SEED']}: both have to be numbers above 0`);
  process.exit(1);
}
const chosen = targets.filter(({ name }) => name.includes(wanted));
console.log(`fuzzing ${chosen.length} targets for ${minutes} min of processor time, SEED=${seed}`);

await using trial = new RecipeTrial();
const found: Finding[] = [];
/** One finding of each target is enough: the rest of the time is for the others. */
const broken = new Set<string>();
let tried = 0;
/** Of all threads. */
const isOver = (): boolean => {
  const { system, user } = process.cpuUsage();
  return user + system >= minutes * 60e6;
};
for (let round = 0; !isOver() && broken.size < chosen.length; round++) {
  // In turn: a minute is enough for a dozen of each.
  const recipe = recipeOf(round, seed);
  for (const { name } of chosen) {
    if (recipe === undefined || broken.has(name) || isOver()) continue;
    const finding = await trial.try(name, recipe);
    tried++;
    if (!finding) continue;
    broken.add(name);
    found.push(finding);
    console.log(`${JSON.stringify({ target: name, ...finding.recipe })}\n  ${finding.problem}`);
  }
}
console.log(`${tried} texts tried, ${found.length} targets found to cost more than their size`);
process.exitCode = found.length > 0 ? 1 : 0;
