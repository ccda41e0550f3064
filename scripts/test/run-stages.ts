/** Runs stages in their lanes, and prints what each has printed, the tests that failed, and a row of each. Entry point: `runStages`. */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { add, say, SCREEN, type Output, type Stage, type Totals } from './stage.ts';

/** Of a failure, when it is printed for the second time: its test, the place, and what was found. */
const MOST_LINES = 12;
const MOST_COLUMNS = 300;

/** Resolves with the sum of all. A stage that throws has failed, and the others go on. Who ends the process sees what its stages have printed. */
export async function runStages(stages: readonly Stage[]): Promise<Totals> {
  for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const rows = new Map<Stage, string>();
  const failures: { readonly stage: Stage; readonly lines: readonly string[] }[] = [];
  const sum: Totals = { passed: 0, failed: 0, skipped: 0 };
  const ended = new Map(stages.map(({ name }) => [name, Promise.withResolvers<void>()]));
  const started = performance.now();

  const runStage = async (stage: Stage, beside: boolean): Promise<void> => {
    await Promise.all((stage.after ?? []).flatMap((name) => ended.get(name)?.promise ?? []));
    say(SCREEN, beside ? `${stage.name} …` : `\n== ${stage.name}`);
    const begun = performance.now();
    const totals = beside ? await runApart(stage) : await run(stage, SCREEN);
    const row = `${stage.name.padEnd(22)} ${secondsSince(begun)}  ${inWords(totals)}`;
    say(SCREEN, row);
    rows.set(stage, row);
    failures.push(...(totals.failures ?? []).map((failure) => ({ stage, lines: failure.trimEnd().split('\n') })));
    add(sum, totals);
    ended.get(stage.name)!.resolve();
  };

  const lanes = Object.values(Object.groupBy(stages, ({ lane }) => lane));
  await Promise.all(
    lanes.map(async (lane) => {
      for (const stage of lane) await runStage(stage, lanes.length > 1);
    }),
  );
  // Once more, next to the sum: between a failure and the end may stand an hour of other stages.
  if (failures.length > 0) {
    say(SCREEN, `\n== failed\n${failures.map(({ lines, stage }) => `${stage.name}: ${cut(lines)}`).join('\n')}`);
  }
  say(SCREEN, `\n${stages.map((stage) => rows.get(stage)).join('\n')}`);
  say(SCREEN, `${'all'.padEnd(22)} ${secondsSince(started)}\n`);
  // Who sees only the last lines still knows which tests they were.
  for (const { lines, stage } of failures) {
    const [test = '', place = ''] = lines;
    say(SCREEN, `${stage.name}: ${test}  ${place.trim()}`);
  }
  return sum;
}

/** Prints what the stage has printed when it has ended, or this process does. */
async function runApart(stage: Stage): Promise<Totals> {
  // A file, not a pipe: what a stage has left behind may hold it open.
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-stage-'));
  const path = join(directory, 'output');
  const output = openSync(path, 'a');
  const print = (): void => {
    closeSync(output);
    say(SCREEN, `\n== ${stage.name}\n${readFileSync(path, 'utf8')}`.trimEnd());
    rmSync(directory, { recursive: true });
  };
  process.once('exit', print);
  const totals = await run(stage, output);
  process.off('exit', print);
  print();
  return totals;
}

async function run(stage: Stage, output: Output): Promise<Totals> {
  try {
    return await stage.run(output);
  } catch (error) {
    say(output, `${stage.name}: ${inspect(error)}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
}

function cut(lines: readonly string[]): string {
  const shown = lines
    .slice(0, MOST_LINES)
    .map((line) => (line.length <= MOST_COLUMNS ? line : `${line.slice(0, MOST_COLUMNS)}…`));
  return [...shown, ...(lines.length > MOST_LINES ? ['     …'] : [])].join('\n');
}

function secondsSince(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1).padStart(7)} s`;
}

function inWords({ failed, passed, skipped }: Totals): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
