import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runServiceRound } from '../../e2e/service-chaos.ts';
import { freshCluster } from '../cluster-nodes.ts';
import type { Scenario } from '../scenario.ts';

const SERVICES = 50;
const KILLS = 10;
/** There is always something to do until the last kill, however slow the machine starts a program. */
const PERIOD_MS = 60_000;

export const parts: Scenario = {
  name: 'parts',
  what: `${SERVICES} services of four parts come, change and go; ${KILLS} x kill -9; 3 % of the cloud's answers are lost after success`,
  upstream: false,
  run: async (rig, _subject, record) => {
    await freshCluster(rig, 0);
    const { controlPlane } = rig;
    const directory = join(controlPlane.directory, 'parts');
    const round = await runServiceRound({
      controlPlane,
      seed: 1,
      services: SERVICES,
      kills: KILLS,
      haste: 1,
      periodMs: PERIOD_MS,
      directory,
    });
    for (const problem of round.problems) console.error(problem);
    await rm(directory, { recursive: true });
    const leaked = round.problems.filter((problem) => problem.includes('leaked')).length;
    record(
      { what: 'parts leaked', value: leaked, atMost: 0 },
      { what: 'parts or services lost or not as wanted', value: round.problems.length - leaked, atMost: 0 },
      { what: 'killed', value: round.kills, atLeast: KILLS },
      { what: 'answers lost', value: round.lostAnswers },
      { what: 'last kill to all as it must be', value: round.settledMs / 1000, unit: 's' },
    );
  },
};
