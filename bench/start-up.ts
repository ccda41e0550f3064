/**
 * `make bench SCENARIO=start-up`: how long the shipped program takes from its start to serving health and to leading, and what
 * it holds in memory while it has nothing to do. Against the embedded API server, so that no real one is measured with it.
 * Fails when a figure is missed.
 *
 *     node bench/start-up.ts [--rounds=7] [--settle=10] [--json=FILE]
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort, startEmbeddedApiServer } from '@outrigger/testing';
import { buildProgram } from '../scripts/build-program.ts';
import { readProcessUsage } from './process-usage.ts';
import { median } from './report.ts';
import { countMissed, renderScenarios } from './scenario-table.ts';
import { secondsUntil, sleep, type Figure } from './scenario.ts';

/** Beyond this, a start is given up. */
const LIMIT_SECONDS = 60;
/** How often it is looked whether health is served: more often would take time from what is measured. */
const LOOK_EVERY_MS = 5;

interface Start {
  readonly healthSeconds: number;
  readonly leadsSeconds: number;
  readonly cpuSeconds: number;
  readonly idleRssMiB: number;
  readonly peakRssMiB: number;
}

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '7' },
    settle: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});
const [rounds, settle] = [values.rounds, values.settle].map(Number) as [number, number];
if (![rounds, settle].every((number) => Number.isInteger(number) && number > 0)) {
  console.error('--rounds and --settle take positive whole numbers');
  process.exit(1);
}

const { bundleBytes, launcher } = await buildProgram();
const directory = mkdtempSync(join(tmpdir(), 'outrigger-bench-'));
const starts: Start[] = [];
try {
  for (let round = 1; round <= rounds; round++) {
    const start = await measureStart();
    starts.push(start);
    const times = `health after ${start.healthSeconds.toFixed(3)} s, leads after ${start.leadsSeconds.toFixed(3)} s`;
    console.log(`round ${round}: ${times}, ${start.idleRssMiB.toFixed(0)} MiB`);
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}

const all = (figure: keyof Start): readonly number[] => starts.map((start) => start[figure]);
const figures: readonly Figure[] = [
  { what: 'start to health, median', value: median(all('healthSeconds')), unit: 's', atMost: 0.5 },
  { what: 'start to health, slowest', value: Math.max(...all('healthSeconds')), unit: 's' },
  { what: 'start to leading, median', value: median(all('leadsSeconds')), unit: 's' },
  { what: 'CPU until it leads, median', value: median(all('cpuSeconds')), unit: 's' },
  { what: `RSS when idle for ${settle} s, MiB, median`, value: Math.round(median(all('idleRssMiB'))) },
  {
    what: `RSS when idle for ${settle} s, MiB, largest`,
    value: Math.round(Math.max(...all('idleRssMiB'))),
    atMost: 90,
  },
  { what: 'largest RSS so far, MiB', value: Math.round(Math.max(...all('peakRssMiB'))) },
  { what: 'bundle, KB', value: Math.round(bundleBytes / 1000) },
];
const measured = [{ scenario: 'start-up', figures, upstream: [] }];
console.log(
  `\n${rounds} starts, ${cpus().length} processors, ${loadavg()[0]?.toFixed(1)} programs wanting to run\n\n${renderScenarios(measured)}`,
);
if (values.json) writeFileSync(values.json, JSON.stringify({ starts, figures }, undefined, 2));
process.exitCode = countMissed(measured) === 0 ? 0 : 1;

/** One start of the program with its default flags; then it is left alone before its memory is read. */
async function measureStart(): Promise<Start> {
  await using server = await startEmbeddedApiServer();
  const kubeconfig = join(directory, 'kubeconfig');
  const cloudConfig = join(directory, 'cloud.json');
  writeFileSync(kubeconfig, server.kubeconfig().yaml);
  writeFileSync(cloudConfig, '{}');
  const port = await freePort();
  const began = performance.now();
  const since = (): number => (performance.now() - began) / 1000;
  const child = spawn(
    launcher,
    [
      `--kubeconfig=${kubeconfig}`,
      '--cloud-provider=memory',
      `--cloud-config=${cloudConfig}`,
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = chunk.toString()));
  const exited = once(child, 'exit');
  const stop = new AbortController();
  child.once('exit', (code) => stop.abort(new Error(`the program ended with code ${code}: ${said}`)));
  const timer = setTimeout(() => stop.abort(new Error(`no leader within ${LIMIT_SECONDS} s`)), LIMIT_SECONDS * 1000);
  try {
    await secondsUntil(() => answers(port), stop.signal, LOOK_EVERY_MS);
    const healthSeconds = since();
    await secondsUntil(() => leads(), stop.signal, LOOK_EVERY_MS);
    const leadsSeconds = since();
    clearTimeout(timer);
    const { cpuSeconds } = readProcessUsage(child.pid ?? 0);
    await sleep(settle * 1000);
    const { peakRssMiB, rssMiB } = readProcessUsage(child.pid ?? 0);
    return { healthSeconds, leadsSeconds, cpuSeconds, idleRssMiB: rssMiB, peakRssMiB };
  } finally {
    clearTimeout(timer);
    child.kill('SIGTERM');
    await exited;
  }

  function leads(): boolean {
    const [lease] = server.store.list({ group: 'coordination.k8s.io', plural: 'leases' });
    return Boolean((lease?.['spec'] as { holderIdentity?: string } | undefined)?.holderIdentity);
  }
}

/** Whether `/healthz` is answered with 200. */
function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(
      { host: '127.0.0.1', port, path: '/healthz', rejectUnauthorized: false, agent: false },
      (response) => {
        response.resume();
        response.once('end', () => resolve(response.statusCode === 200));
      },
    );
    asked.once('error', () => resolve(false));
    asked.end();
  });
}
