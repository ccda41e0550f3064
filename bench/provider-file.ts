/**
 * `make bench SCENARIO=provider-file`: what it costs that a provider is TypeScript. The example of the contract's guide as its `.ts` file and
 * with its types stripped beforehand (`.mjs`), loaded by path, in turn: nodes wait, the program starts and initialises them. Fails when the
 * medians of the one are not those of the other, but for what stripping takes at the start. That is measured by starts beside one node: amid
 * a thousand, two starts of the same file differ by more.
 *
 *     node bench/provider-file.ts [--nodes=1000] [--rounds=5] [--starts=10] [--json=FILE]
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
    starts: { type: 'string', default: '10' },
    json: { type: 'string' },
  },
});
const [nodes, rounds, starts] = [values.nodes, values.rounds, values.starts].map(Number) as [number, number, number];
if (![nodes, rounds, starts].every((number) => Number.isInteger(number) && number > 0)) {
  console.error('--nodes, --rounds and --starts take positive whole numbers');
  process.exit(1);
}

buildSubjects(false);
const measurements: Measurement[] = [];
const ofOneNode: Measurement[] = [];
{
  await using rig = await openRig();
  const { client, controlPlane, transport } = rig;
  const cloud = await serveExampleCloud();
  await using _served = cloud;
  // Both as an operator has them: beside the example, the contract that it imports is TypeScript too, and would be stripped with it.
  const source = readFileSync(EXAMPLE, 'utf8');
  const typed = join(controlPlane.directory, 'my-cloud.ts');
  writeFileSync(typed, source);
  const stripped = join(controlPlane.directory, 'my-cloud.mjs');
  writeFileSync(stripped, transformSync(source, { loader: 'ts' }).code);
  const cloudConfig = join(controlPlane.directory, 'my-cloud.json');
  writeFileSync(cloudConfig, JSON.stringify({ endpoint: cloud.endpoint, token: 'of-the-bench' }));
  for (const [what, many, wanted] of [
    ['round', nodes, rounds],
    ['start', 1, starts],
  ] as const) {
    for (let round = 1; round <= wanted; round++) {
      const both = [
        ['.ts', typed],
        ['.mjs', stripped],
      ] as const;
      // Who comes second finds a warmer machine.
      for (const [name, file] of round % 2 === 1 ? both : both.toReversed()) {
        const surroundings = { ...(await rig.surroundings()), cloudConfig };
        const subject = loading(name, file);
        const measured = await measureBurst({
          subject,
          nodes: many,
          client,
          transport,
          cloud,
          surroundings,
          limitSeconds: LIMIT_SECONDS,
        });
        (what === 'start' ? ofOneNode : measurements).push(measured);
        console.log(`${what} ${round}, ${name}: ${summary(measured)}`);
      }
    }
  }
}

type Compared = 'startToFirstWriteSeconds' | 'seconds' | 'cpuSeconds' | 'peakRssMiB';
const of = (name: string, figure: Compared, among: readonly Measurement[] = measurements): number =>
  median(among.flatMap((one) => (one.subject === name ? [one[figure]] : [])));
const startsLater = (among: readonly Measurement[]): number =>
  of('.ts', 'startToFirstWriteSeconds', among) - of('.mjs', 'startToFirstWriteSeconds', among);
const figures: readonly Figure[] = [
  { what: 'start to the only node, .ts - .mjs', value: startsLater(ofOneNode), unit: 's', atMost: STRIP_SECONDS },
  { what: `start to the first of ${nodes}, .ts - .mjs`, value: startsLater(measurements), unit: 's' },
  { what: 'first to last node, .ts : .mjs', value: of('.ts', 'seconds') / of('.mjs', 'seconds') },
  { what: 'CPU of the process, .ts : .mjs', value: of('.ts', 'cpuSeconds') / of('.mjs', 'cpuSeconds'), atMost: ALIKE },
  { what: 'largest RSS, .ts : .mjs', value: of('.ts', 'peakRssMiB') / of('.mjs', 'peakRssMiB'), atMost: ALIKE },
];
const table = [{ scenario: `${nodes} nodes`, figures, upstream: [] }];
console.log(`\nmedians of ${rounds} rounds and ${starts} starts, ${cpus().length} processors\n`);
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
if (values.json) writeFileSync(values.json, JSON.stringify({ measurements, ofOneNode, figures }, undefined, 2));
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
