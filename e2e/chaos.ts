/**
 * `make chaos`: rounds of chaos on one control plane a part, ending with `N passed, N failed`. PART=nodes,services,faults,tenant: which of them,
 * default all four; PART=openstack: with the OpenStack lab, which needs root and is brought up and ended unless it is up.
 * ROUNDS=n: of each part; default 20, 30, 1, 3 and 30. NODES=500: of `nodes` and `tenant`; MINUTES=5: of the attack in `tenant`; SEED=n:
 * the seed of the first round, those after it count up. LOGS=directory: keep the programs' logs, also of rounds that pass.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane, type ControlPlane, type ControlPlaneOptions } from '@outrigger/testing';
import { chaosLine, REPLICA_USERS, runChaosRound } from './chaos-round.ts';
import { faultLine, runFaultRound } from './fault-chaos.ts';
import { runKillRound } from './openstack/kill-round.ts';
import { holdLab } from './openstack/lab.ts';
import { runServiceRound, serviceLine } from './service-chaos.ts';
import { runTenantRound, TENANT_FLAGS, tenantLine } from './tenant-chaos.ts';
import { slowerSteps, timesText, type TimesOfPhases } from './tenant-times.ts';

const FAULTS_MS = 300_000;

interface Round {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly directory: string;
}

interface Part {
  readonly rounds: number;
  /** What its rounds need beside the control plane. */
  readonly hold?: () => Promise<AsyncDisposable>;
  /** Of its control plane. */
  readonly flags?: ControlPlaneOptions['flags'];
  /** Each round has a control plane of its own: what is left of one in the API server would be in the way of the next. */
  readonly anew?: true;
  /** Only where it is named. */
  readonly named?: true;
  /** Gives one line about the round, and what must not be. */
  run(round: Round): Promise<Outcome>;
  /** Of all rounds together. */
  readonly together?: (times: readonly TimesOfPhases[]) => Outcome;
}

interface Outcome {
  readonly line: string;
  readonly problems: readonly string[];
  /** Where they are judged of all rounds together. */
  readonly times?: TimesOfPhases;
}

const parts: Readonly<Record<string, Part>> = {
  nodes: {
    rounds: 20,
    run: async (round) => {
      const report = await runChaosRound({ ...round, nodes: wholeNumber('NODES', 500, 1) });
      return { line: chaosLine(report), problems: report.problems };
    },
  },
  services: {
    rounds: 30,
    run: async (round) => {
      const report = await runServiceRound({ ...round, services: 100, kills: 10, haste: 1 });
      return { line: serviceLine(report), problems: report.problems };
    },
  },
  faults: {
    rounds: 1,
    run: async (round) => {
      const report = await runFaultRound({ ...round, nodes: 100, durationMs: FAULTS_MS });
      return { line: faultLine(report), problems: report.problems };
    },
  },
  tenant: {
    rounds: 3,
    flags: TENANT_FLAGS,
    anew: true,
    run: async (round) => {
      const nodes = wholeNumber('NODES', 500, 20);
      const durationMs = 60_000 * wholeNumber('MINUTES', 5, 1);
      const report = await runTenantRound({ ...round, services: 200, nodes, durationMs, compares: true });
      const { problems, times } = report;
      return { line: tenantLine(report), problems, times };
    },
    together: (times) => ({ line: timesText(times), problems: slowerSteps(times) }),
  },
  openstack: {
    rounds: 30,
    hold: () => holdLab(console.log),
    named: true,
    run: async (round) => ({ line: await runKillRound(round), problems: [] }),
  },
};

function wholeNumber(name: string, byDefault: number, least: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return byDefault;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    refuse(`${name}=${text}: must be a whole number from ${least}`);
  }
  return value;
}

function refuse(text: string): never {
  console.error(text);
  process.exit(1);
}

function chosenParts(): readonly (readonly [name: string, part: Part])[] {
  const byDefault = Object.keys(parts).filter((name) => !parts[name]?.named);
  const names = (process.env['PART'] || byDefault.join()).split(',');
  return names.map((name) => [
    name,
    parts[name] ?? refuse(`PART=${name}: must be of ${Object.keys(parts).join(', ')}`),
  ]);
}

const chosen = chosenParts();
const firstSeed = wholeNumber('SEED', randomInt(2 ** 31), 0);
wholeNumber('ROUNDS', 1, 1);
wholeNumber('NODES', 500, 1);
wholeNumber('MINUTES', 5, 1);
const logs = process.env['LOGS'] ?? (await mkdtemp(join(tmpdir(), 'outrigger-chaos-')));

let passed = 0;
const failed: string[] = [];
for (const [name, part] of chosen) {
  await using _held = await part.hold?.();
  const start = (): Promise<ControlPlane> =>
    startControlPlane({ tokenUsers: REPLICA_USERS, ...(part.flags && { flags: part.flags }) });
  await using shared = part.anew ? undefined : await start();
  const rounds = wholeNumber('ROUNDS', part.rounds, 1);
  const ofRounds: TimesOfPhases[] = [];
  const passedLogs: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const seed = firstSeed + round;
    const directory = join(logs, name, String(seed));
    const title = `${name}, round ${round + 1} of ${rounds}`;
    const again = `PART=${name} ROUNDS=1 SEED=${seed} make chaos`;
    const before = failed.length;
    try {
      await using owned = new AsyncDisposableStack();
      const controlPlane = shared ?? owned.use(await start());
      const { line, problems, times } = await part.run({ controlPlane, seed, directory });
      console.log(`${title}, ${line}`);
      if (times) ofRounds.push(times);
      for (const problem of problems) console.log(`  ${problem}`);
      if (problems.length > 0) failed.push(again);
      else passed++;
    } catch (error) {
      console.log(`${title}, seed ${seed}: FAILED:`, error);
      failed.push(again);
    }
    if (failed.length === before) passedLogs.push(directory);
  }
  if (part.together && ofRounds.length > 0) {
    const { line, problems } = part.together(ofRounds);
    if (ofRounds.length > 1) console.log(`${name}, ${ofRounds.length} rounds together:${line}`);
    for (const problem of problems) console.log(`  ${problem}`);
    if (problems.length > 0) {
      failed.push(`PART=${name} ROUNDS=${rounds} SEED=${firstSeed} make chaos`);
      continue;
    }
    passed++;
  }
  if (process.env['LOGS'] !== undefined) continue;
  for (const directory of passedLogs) await rm(directory, { recursive: true });
}
if (failed.length === 0 && process.env['LOGS'] === undefined) await rm(logs, { recursive: true });
else console.log(`logs: ${logs}${failed[0] === undefined ? '' : `; one of these again: ${failed[0]}`}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
