/**
 * `make bench SCENARIO=services,routes`: what Outrigger, with its default flags, does and asks for in a given situation on a real
 * control plane, against what must be reached, and beside upstream's framework where its sample program can do the same. Fails
 * when a figure is missed.
 *
 *     node bench/scenarios.ts [--scenario=all] [--subjects=outrigger,'upstream tuned'] [--json=FILE]
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openRig } from './rig.ts';
import { countMissed, renderScenarios, type Measured } from './scenario-table.ts';
import type { Figure } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { allControllers, buildSubjects, type Subject } from './subjects.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'all' },
    subjects: { type: 'string', default: allControllers.map(({ name }) => name).join(',') },
    json: { type: 'string' },
  },
});
const names = values.scenario === 'all' ? scenarios.map(({ name }) => name) : values.scenario.split(',');
const unknown = names.filter((wanted) => !scenarios.some(({ name }) => name === wanted));
if (unknown.length > 0) {
  console.error(`--scenario=${unknown.join()}: must be all, or of ${scenarios.map(({ name }) => name).join(', ')}`);
  process.exit(1);
}
const wanted = values.subjects.split(',');
const [outrigger, upstream] = allControllers.map((subject) => (wanted.includes(subject.name) ? subject : undefined));

buildSubjects(upstream !== undefined);
const measured: Measured[] = [];
{
  await using rig = await openRig();
  console.log(`Kubernetes ${rig.controlPlane.kubernetes}, ${cpus().length} processors, everything on one machine\n`);
  for (const scenario of scenarios.filter(({ name }) => names.includes(name))) {
    console.log(`${scenario.name}: ${scenario.what}`);
    const measure = async (subject: Subject | undefined): Promise<readonly Figure[]> => {
      if (!subject) return [];
      const figures = await scenario.run(rig, subject);
      for (const { unit = '', value, what } of figures) console.log(`  ${subject.name}: ${what}: ${value}${unit}`);
      return figures;
    };
    const figures = await measure(outrigger);
    measured.push({
      scenario: scenario.name,
      figures,
      upstream: await measure(scenario.upstream ? upstream : undefined),
    });
  }
}
console.log(`\n${renderScenarios(measured)}`);
if (values.json) writeFileSync(values.json, JSON.stringify(measured, undefined, 2));
process.exitCode = countMissed(measured) === 0 ? 0 : 1;
