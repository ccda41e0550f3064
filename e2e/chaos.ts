/**
 * `make chaos`: rounds of chaos on one control plane, ending with `N passed, N failed`. ROUNDS=20, NODES=500; SEED=n: the seed
 * of the first round, those after it count up. LOGS=directory: keep the replicas' logs, also of rounds that pass.
 */
import { randomInt } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startControlPlane } from '@outrigger/testing';
import { chaosLine, REPLICA_USERS, runChaosRound } from './chaos-round.ts';

function wholeNumber(name: string, byDefault: number, least: number): number {
  const text = process.env[name] ?? '';
  if (text === '') return byDefault;
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least) {
    console.error(`${name}=${text}: must be a whole number from ${least}`);
    process.exit(1);
  }
  return value;
}

const rounds = wholeNumber('ROUNDS', 20, 1);
const nodes = wholeNumber('NODES', 500, 1);
const firstSeed = wholeNumber('SEED', randomInt(2 ** 31), 0);
const logs = process.env['LOGS'] ?? (await mkdtemp(join(tmpdir(), 'outrigger-chaos-')));

let passed = 0;
const failed: number[] = [];
{
  await using controlPlane = await startControlPlane({ tokenUsers: REPLICA_USERS });
  for (let round = 0; round < rounds; round++) {
    const seed = firstSeed + round;
    const directory = join(logs, String(seed));
    try {
      const report = await runChaosRound({ controlPlane, seed, nodes, directory });
      console.log(`round ${round + 1} of ${rounds}, ${chaosLine(report)}`);
      for (const problem of report.problems) console.log(`  ${problem}`);
      if (report.problems.length > 0) failed.push(seed);
      else passed++;
    } catch (error) {
      console.log(`round ${round + 1} of ${rounds}, seed ${seed}: FAILED:`, error);
      failed.push(seed);
    }
    if (!failed.includes(seed) && process.env['LOGS'] === undefined) await rm(directory, { recursive: true });
  }
}
if (failed.length === 0 && process.env['LOGS'] === undefined) await rm(logs, { recursive: true });
else console.log(`logs: ${logs}; one of these again: ROUNDS=1 SEED=${failed[0] ?? firstSeed} make chaos`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
