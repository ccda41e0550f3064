/**
 * `make bench SCENARIO=provider-file`: what it costs that a provider is TypeScript. The example of the contract's guide as its `.ts` file and
 * with its types stripped beforehand (`.mjs`), loaded by path, in turn: nodes wait, the program starts and initialises them. Fails when the
 * medians of the one are not those of the other, but for what stripping takes at the start.
 *
 *     node bench/provider-file.ts [--nodes=1000] [--rounds=5] [--json=FILE]
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { transformSync } from 'esbuild';
import { addressOf } from './fleet.ts';
import { measureBurst, type MeasuredCloud, type Measurement } from './measure.ts';
import { median } from './report.ts';
import { openRig } from './rig.ts';
import { countMissed, renderScenarios } from './scenario-table.ts';
import type { Figure } from './scenario.ts';
import { buildSubjects, outrigger, type Subject } from './subjects.ts';

const EXAMPLE = fileURLToPath(new URL('../packages/cloud-provider/examples/my-cloud.ts', import.meta.url));
/** Beyond this, a measurement is given up. */
const LIMIT_SECONDS = 120;
/** Of the other's: two runs of the same differ by less. */
const ALIKE = 1.05;
/** For the process that strips the types, and ends. */
const STRIP_SECONDS = 0.3;

const { values } = parseArgs({
  options: {
    nodes: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '5' },
    json: { type: 'string' },
  },
});
const [nodes, rounds] = [values.nodes, values.rounds].map(Number) as [number, number];
if (![nodes, rounds].every((number) => Number.isInteger(number) && number > 0)) {
  console.error('--nodes and --rounds take positive whole numbers');
  process.exit(1);
}

buildSubjects(false);
const measurements: Measurement[] = [];
{
  await using rig = await openRig();
  const { client, controlPlane, transport } = rig;
  const cloud = await serveExampleCloud();
  await using _served = cloud;
  const stripped = join(controlPlane.directory, 'my-cloud.mjs');
  writeFileSync(stripped, transformSync(readFileSync(EXAMPLE, 'utf8'), { loader: 'ts' }).code);
  const cloudConfig = join(controlPlane.directory, 'my-cloud.json');
  writeFileSync(cloudConfig, JSON.stringify({ endpoint: cloud.endpoint, token: 'of-the-bench' }));
  for (let round = 1; round <= rounds; round++) {
    for (const [name, file] of [
      ['.ts', EXAMPLE],
      ['.mjs', stripped],
    ] as const) {
      const surroundings = { ...(await rig.surroundings()), cloudConfig };
      const subject = loading(name, file);
      const measured = await measureBurst({
        subject,
        nodes,
        client,
        transport,
        cloud,
        surroundings,
        limitSeconds: LIMIT_SECONDS,
      });
      measurements.push(measured);
      console.log(`round ${round}, ${name}: ${summary(measured)}`);
    }
  }
}

const of = (name: string, figure: 'startToFirstWriteSeconds' | 'seconds' | 'cpuSeconds' | 'peakRssMiB'): number =>
  median(measurements.flatMap((one) => (one.subject === name ? [one[figure]] : [])));
const figures: readonly Figure[] = [
  {
    what: 'start to first node, .ts - .mjs',
    value: of('.ts', 'startToFirstWriteSeconds') - of('.mjs', 'startToFirstWriteSeconds'),
    unit: 's',
    atMost: STRIP_SECONDS,
  },
  { what: 'first to last node, .ts : .mjs', value: of('.ts', 'seconds') / of('.mjs', 'seconds') },
  { what: 'CPU of the process, .ts : .mjs', value: of('.ts', 'cpuSeconds') / of('.mjs', 'cpuSeconds'), atMost: ALIKE },
  { what: 'largest RSS, .ts : .mjs', value: of('.ts', 'peakRssMiB') / of('.mjs', 'peakRssMiB'), atMost: ALIKE },
];
const table = [{ scenario: `${nodes} nodes`, figures, upstream: [] }];
console.log(`\nmedians of ${rounds} rounds, ${cpus().length} processors\n`);
for (const name of ['.ts', '.mjs']) {
  const medians = {
    startToFirstWriteSeconds: of(name, 'startToFirstWriteSeconds'),
    seconds: of(name, 'seconds'),
    cpuSeconds: of(name, 'cpuSeconds'),
    peakRssMiB: of(name, 'peakRssMiB'),
  };
  console.log(`${name}: ${summary(medians)}`);
}
console.log(`\n${renderScenarios(table)}`);
if (values.json) writeFileSync(values.json, JSON.stringify({ measurements, figures }, undefined, 2));
process.exitCode = countMissed(table) === 0 ? 0 : 1;

function summary(of: Pick<Measurement, 'startToFirstWriteSeconds' | 'seconds' | 'cpuSeconds' | 'peakRssMiB'>): string {
  const [first, all, cpu] = [of.startToFirstWriteSeconds, of.seconds, of.cpuSeconds].map((seconds) =>
    seconds.toFixed(2),
  );
  return `first node after ${first} s, all ${all} s later, ${cpu} s of CPU, at most ${of.peakRssMiB.toFixed(0)} MiB`;
}

function loading(name: string, file: string): Subject {
  return {
    ...outrigger,
    name,
    command: (surroundings) =>
      outrigger
        .command(surroundings)
        .map((arg) => (arg.startsWith('--cloud-provider=') ? `--cloud-provider=${file}` : arg)) as [
        string,
        ...string[],
      ],
  };
}

/** The API that the example is written for. */
async function serveExampleCloud(): Promise<MeasuredCloud & AsyncDisposable & { readonly endpoint: string }> {
  let servers = new Map<string, object>();
  let calls = 0;
  const server = createServer(({ url = '' }, response) => {
    calls++;
    const [, id] = /^\/servers\/(.+)$/u.exec(url) ?? [];
    const found = id === undefined ? { servers: [...servers.values()] } : servers.get(id);
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { error: 'server_not_found' }));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setInstances: (names) => {
      const place = { status: 'active', plan: 'm1', zone: 'z1', region: 'r1' };
      servers = new Map(
        names.map((name, index) => [
          `srv-${index}`,
          { id: `srv-${index}`, name, privateIp: addressOf(index), ...place },
        ]),
      );
      calls = 0;
    },
    calls: () => calls,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
