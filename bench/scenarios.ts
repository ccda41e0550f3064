/**
 * `make bench SCENARIO=services,routes`: what Outrigger, with its default flags, does and asks for in a given situation on a real
 * control plane, against what must be reached, and in turn with upstream's framework, with tuned and with default flags, where
 * its sample program can do the same. Fails when Outrigger misses a figure.
 *
 *     node bench/scenarios.ts [--scenario=all] [--subjects=outrigger,'upstream tuned','upstream default'] [--rounds=1] [--json=FILE]
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { openRig, type Rig } from './rig.ts';
import { Unfinished } from './run-subject.ts';
import { countMissed, mergeRounds, renderHarm, renderScenarios, type Beside, type Measured } from './scenario-table.ts';
import type { Figure, Scenario } from './scenario.ts';
import { scenarios } from './scenarios/index.ts';
import { buildSubjects, outrigger, upstreams, type Subject } from './subjects.ts';

const { values } = parseArgs({
  options: {
    scenario: { type: 'string', default: 'all' },
    subjects: { type: 'string', default: [outrigger, ...upstreams].map(({ name }) => name).join(',') },
    rounds: { type: 'string', default: '1' },
    json: { type: 'string' },
  },
});
const names = values.scenario === 'all' ? scenarios.map(({ name }) => name) : values.scenario.split(',');
refuseUnknown('--scenario', names, scenarios);
const wanted = values.subjects.split(',');
refuseUnknown('--subjects', wanted, [outrigger, ...upstreams]);
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1) refuse(`--rounds=${values.rounds}: must be a whole number from 1`);
const besides = upstreams.filter(({ name }) => wanted.includes(name));

buildSubjects(besides.length > 0);
const measured: Measured[] = [];
{
  await using rig = await openRig();
  console.log(`Kubernetes ${rig.controlPlane.kubernetes}, ${cpus().length} processors, everything on one machine\n`);
  for (const scenario of scenarios.filter(({ name }) => names.includes(name))) {
    console.log(`${scenario.name}: ${scenario.what}`);
    measured.push(await measureInTurn(rig, scenario));
  }
}
console.log(`\n${renderScenarios(measured)}`);
const harm = renderHarm(measured);
if (harm.length > 0) console.log(`\nWhat must not be at all, and was:\n${harm.join('\n')}`);
if (values.json) writeFileSync(values.json, JSON.stringify(measured, undefined, 2));
process.exitCode = countMissed(measured) === 0 ? 0 : 1;

/** One after another within each round, so that what else the machine does meets all of them. */
async function measureInTurn(rig: Rig, scenario: Scenario): Promise<Measured> {
  const subjects = [outrigger, ...(scenario.upstream ? upstreams : [])].filter(({ name }) => wanted.includes(name));
  const runs: Beside[] = [];
  for (let round = 0; round < rounds; round++)
    for (const subject of subjects) runs.push(await measure(rig, scenario, subject));
  const merged = subjects.map(({ name }): Beside => {
    const own = runs.filter(({ subject }) => subject === name);
    const unfinished = own.find((run) => run.unfinished !== undefined)?.unfinished;
    return {
      subject: name,
      figures: mergeRounds(own.map(({ figures }) => figures)),
      ...(unfinished && { unfinished }),
    };
  });
  return {
    scenario: scenario.name,
    figures: merged.find(({ subject }) => subject === outrigger.name)?.figures ?? [],
    upstream: merged.filter(({ subject }) => subject !== outrigger.name),
  };
}

/** Upstream may come to no end: that is a result. Outrigger may not. */
async function measure(rig: Rig, scenario: Scenario, subject: Subject): Promise<Beside> {
  const figures: Figure[] = [];
  try {
    await scenario.run(rig, subject, (...known) => {
      figures.push(...known);
      for (const { unit = '', value, what } of known) console.log(`  ${subject.name}: ${what}: ${value}${unit}`);
    });
    return { subject: subject.name, figures };
  } catch (error) {
    if (subject === outrigger || !(error instanceof Unfinished)) throw error;
    console.log(`  ${error.message}`);
    return { subject: subject.name, figures, unfinished: error.message.split('\n', 1).join() };
  }
}

function refuseUnknown(option: string, given: readonly string[], known: readonly { readonly name: string }[]): void {
  const unknown = given.filter((each) => !known.some(({ name }) => name === each));
  if (unknown.length > 0) refuse(`${option}=${unknown.join()}: must be of ${known.map(({ name }) => name).join(', ')}`);
}

function refuse(text: string): never {
  console.error(text);
  process.exit(1);
}
