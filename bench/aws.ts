/**
 * `make bench SCENARIO=aws`: Outrigger beside cloud-provider-aws on the same fake of AWS, with AWS' own buckets of requests, and a real control
 * plane, in turn: how long and by which calls nodes are initialised, Services of two ports are made, follow a node and go, how many nodes each
 * program deletes whose machines are there, and what the provider adds to the manager's memory. Fails when Outrigger deletes one, leaves something behind, asks for more than its aim, or does not come
 * to the end.
 *
 *     node bench/aws.ts [--parts=initialise,services,faults,rss] [--nodes=3,100,1000] [--services=100] [--rounds=3] [--subjects=outrigger,official]
 *         [--official=PATH] [--json=FILE]
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startControlPlane } from '@outrigger/testing';
import { LAB_ENV } from '../providers/aws/lab/seed-account.ts';
import { faults, initialise, services, UNFINISHED, type Record, type Row } from './aws/aws-parts.ts';
import { AwsRig } from './aws/aws-rig.ts';
import { OFFICIAL, official, OURS, outrigger } from './aws/aws-subjects.ts';
import { ADDED, rssBesideMemory } from './aws/rss-beside-memory.ts';
import { connect } from './connect.ts';
import type { Subject } from './subjects.ts';

const PARTS = ['initialise', 'services', 'faults', 'rss'];
/** Until all are initialised, however many they are. */
const AIM_CALLS = 5;
/** To the manager's resident memory, with 1,000 instances. */
const AIM_ADDED_MIB = 15;

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: PARTS.join() },
    nodes: { type: 'string', default: '3,100,1000' },
    services: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '3' },
    official: { type: 'string' },
    subjects: { type: 'string', default: 'outrigger,official' },
    json: { type: 'string' },
  },
});
const sizes = values.nodes.split(',').map(Number);
const [count, rounds] = [Number(values.services), Number(values.rounds)];
if (![count, rounds, ...sizes].every((number) => Number.isInteger(number) && number > 0 && number <= 5_000)) {
  console.error('--nodes, --services and --rounds take whole numbers from 1 to 5000');
  process.exit(1);
}

// For both programs, which inherit it.
Object.assign(process.env, LAB_ENV);

const [parts, wanted] = [chosen('parts', PARTS), chosen('subjects', [OURS, OFFICIAL])];
const rows: Row[] = [];
function recorder({ name: subject }: Subject): Record {
  return (row) => {
    rows.push({ subject, ...row });
    const calls = Object.entries(row.counts ?? {}).map(([action, times]) => `${action} ${times}`);
    const said = calls.length > 0 ? `: ${calls.join(', ')}` : '';
    console.log(`  ${subject}: ${row.what}: ${Number(row.value.toFixed(2))}${row.unit ?? ''}${said}`);
  };
}

const ours = wanted.includes(OURS) ? outrigger() : undefined;
const beside = wanted.includes(OFFICIAL) ? await official(values.official) : undefined;
const subjects = [ours, beside].filter((subject) => subject !== undefined);
{
  await using controlPlane = await startControlPlane({ auditLog: false });
  await using connection = await connect(controlPlane.kubeconfig.path);
  console.log(`Kubernetes ${controlPlane.kubernetes}, ${cpus().length} processors, everything on one machine\n`);
  const rig = new AwsRig(controlPlane, connection.client);
  if (parts.includes('initialise')) {
    for (const nodes of sizes) for (const subject of subjects) await initialise(rig, subject, nodes, recorder(subject));
  }
  if (parts.includes('services')) {
    for (const subject of subjects) await services(rig, subject, count, recorder(subject));
  }
  if (parts.includes('faults')) for (const subject of subjects) await faults(rig, subject, recorder(subject));
  if (ours && parts.includes('rss')) await rssBesideMemory(rig, ours, rounds, recorder(ours));
}
console.log(`\n${tableOf(rows)}`);
if (values.json) writeFileSync(values.json, JSON.stringify(rows, undefined, 2));
const missed = rows.filter(({ subject, what, value }) => subject === OURS && value > mostOf(what));
for (const { value, what } of missed) console.log(`missed: ${what}: ${value}`);
process.exitCode = missed.length === 0 ? 0 : 1;

/** Nothing measured must not pass for all in order. */
function chosen(option: 'parts' | 'subjects', known: readonly string[]): readonly string[] {
  const names = values[option].split(',');
  if (!names.every((name) => known.includes(name))) {
    console.error(`--${option} takes ${known.join(', ')}, with commas between them`);
    process.exit(1);
  }
  return names;
}

function mostOf(what: string): number {
  if (/live nodes deleted|leaked/u.test(what) || what.includes(UNFINISHED)) return 0;
  if (what.startsWith(ADDED)) return AIM_ADDED_MIB;
  return /^\d+ nodes: calls until then$/u.test(what) ? AIM_CALLS : Number.POSITIVE_INFINITY;
}

/** A line for each figure, a column for each program. */
function tableOf(all: readonly Row[]): string {
  const names = [...new Set(all.map(({ subject }) => subject))];
  const lines = [...Map.groupBy(all, ({ what }) => what)].map(([what, group]) => {
    const cells = names.map((name) => {
      const row = group.find(({ subject }) => subject === name);
      return row ? `${Number(row.value.toFixed(1))}${row.unit ?? ''}` : '–';
    });
    return `| ${what} | ${cells.join(' | ')} |`;
  });
  return [`| | ${names.join(' | ')} |`, `|---|${names.map(() => '---:').join('|')}|`, ...lines].join('\n');
}
