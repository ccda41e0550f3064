/**
 * What it costs to read a page of instances of EC2, by the client of the provider and by AWS' SDK: each in a process of its own, bundled as the
 * program is, in turn. Fails when the provider's client reads fewer instances, or takes more CPU or memory than the SDK.
 *
 *     node bench/aws-decoding.ts [--instances=1000] [--times=20] [--rounds=3]
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { Decoding } from './aws/decoding/measured.ts';
import { instancesAnswer } from './aws/instances-answer.ts';
import { median } from './report.ts';

const { values } = parseArgs({
  options: {
    instances: { type: 'string', default: '1000' },
    times: { type: 'string', default: '20' },
    rounds: { type: 'string', default: '3' },
  },
});
const [instances, times, rounds] = [Number(values.instances), Number(values.times), Number(values.rounds)];
if (![instances, times, rounds].every((number) => Number.isInteger(number) && number > 1 && number <= 100_000)) {
  console.error('--instances, --times and --rounds take whole numbers from 2 to 100000');
  process.exit(1);
}

const readers = ['none', 'ours', 'sdk'] as const;
const directory = mkdtempSync(join(tmpdir(), 'outrigger-decoding-'));
try {
  const file = join(directory, 'answer.xml');
  writeFileSync(file, instancesAnswer(instances));
  const found: Record<string, Decoding[]> = {};
  for (const reader of readers) await bundle(reader);
  for (let round = 0; round < rounds; round++) {
    for (const reader of readers) {
      const line = execFileSync(process.execPath, [programOf(reader), file, String(times)], { encoding: 'utf8' });
      (found[reader] ??= []).push(JSON.parse(line) as Decoding);
    }
  }
  const bytes = statSync(file).size;
  console.log(
    `${instances} instances in ${(bytes / 1e6).toFixed(1)} MB, ${times} times, ${rounds} rounds, Node.js ${process.version}\n`,
  );
  console.log(
    '| | program | loaded: RSS | first answer: CPU | each after it: CPU | peak RSS |\n|---|---:|---:|---:|---:|---:|',
  );
  for (const reader of readers) console.log(rowOf(reader, found[reader] ?? []));
  const [own, sdk] = [found['ours'] ?? [], found['sdk'] ?? []];
  const isComplete = own.every((one) => one.instances === instances);
  const isLess = (of: (one: Decoding) => number): boolean => median(own.map(of)) < median(sdk.map(of));
  const met = isComplete && isLess(cpuOf) && isLess(({ end }) => end.peakRssMiB);
  if (!met) console.log(isComplete ? 'missed: more than the SDK' : 'missed: not all instances were read');
  process.exitCode = met ? 0 : 1;
} finally {
  rmSync(directory, { recursive: true, force: true });
}

function programOf(reader: string): string {
  return join(directory, `${reader}.mjs`);
}

async function bundle(reader: string): Promise<void> {
  await build({
    entryPoints: [fileURLToPath(new URL(`aws/decoding/${reader}.ts`, import.meta.url))],
    outfile: programOf(reader),
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    minifySyntax: true,
    // CommonJS packages in it ask for this.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'warning',
  });
}

function cpuOf({ nextMs }: Decoding): number {
  return median(nextMs);
}

function rowOf(reader: string, all: readonly Decoding[]): string {
  const of = (figure: (one: Decoding) => number): number => median(all.map(figure));
  const cells = [
    `${(statSync(programOf(reader)).size / 1000).toFixed(0)} kB`,
    `${of(({ loaded }) => loaded.rssMiB).toFixed(0)} MiB`,
    `${of(({ firstMs }) => firstMs).toFixed(0)} ms`,
    `${of(cpuOf).toFixed(0)} ms`,
    `${of(({ end }) => end.peakRssMiB).toFixed(0)} MiB`,
  ];
  return `| ${reader} | ${cells.join(' | ')} |`;
}
