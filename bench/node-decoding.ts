/**
 * What it costs this program to read a node, and what it keeps of it, in protobuf and in JSON: the figures of ADR 0033. Nodes are
 * those of a real API server, as stores get and trim them. In turn in one process, by the thread's CPU time.
 *
 *     node --expose-gc bench/node-decoding.ts [--nodes=200] [--rounds=5]
 */
import { parseArgs } from 'node:util';
import { resources, trimNode, type Node, type Transport } from '@outrigger/kube';
import { startControlPlane } from '@outrigger/testing';
import { PROTOBUF_TYPE, readObject } from '../packages/kube/src/protobuf/envelope.ts';
import { connect } from './connect.ts';
import { nodeNames, registerNodes } from './fleet.ts';
import { median } from './report.ts';

/** Of each node, in a round; and before the first, so that the compilers are done. */
const READS = 50;

const { values } = parseArgs({
  options: { nodes: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const [nodes, rounds] = [Number(values.nodes), Number(values.rounds)];
if (![nodes, rounds].every((number) => Number.isInteger(number) && number > 0 && number <= 10_000)) {
  console.error('--nodes and --rounds take whole numbers from 1 to 10000');
  process.exit(1);
}

const encodings = [
  { name: 'protobuf', accept: PROTOBUF_TYPE, read: (bytes: Buffer): Node => readObject('Node', bytes) },
  {
    name: 'JSON',
    accept: 'application/json',
    read: (bytes: Buffer): Node => trimNode(JSON.parse(bytes.toString()) as Node),
  },
] as const;

const bodies = await fetchNodes();
for (const { name, read } of encodings) time(bodies[name] ?? [], read);
const micros: Record<string, number[]> = {};
for (let round = 0; round < rounds; round++)
  for (const { name, read } of encodings) (micros[name] ??= []).push(time(bodies[name] ?? [], read));
console.log(`${nodes} nodes, ${rounds} rounds of ${READS} reads each, Node.js ${process.version}\n`);
console.log('| | on the wire | CPU to read, median (least to most) | kept |\n|---|---:|---:|---:|');
for (const { name, read } of encodings) {
  const own = micros[name] ?? [];
  const wire = (bodies[name] ?? []).reduce((sum, { length }) => sum + length, 0) / nodes / 1000;
  const span = `${Math.min(...own).toFixed(0)} to ${Math.max(...own).toFixed(0)}`;
  console.log(
    `| ${name} | ${wire.toFixed(1)} KB | ${median(own).toFixed(0)} µs (${span}) | ${kept(bodies[name] ?? [], read)} |`,
  );
}

/** The bytes of each node, in each encoding. */
async function fetchNodes(): Promise<Readonly<Record<string, readonly Buffer[]>>> {
  await using controlPlane = await startControlPlane({ auditLog: false });
  await using connection = await connect(controlPlane.kubeconfig.path);
  const { client, transport } = connection;
  const names = nodeNames(nodes);
  await registerNodes(client, names);
  const { items } = await client.of(resources.nodes).list();
  if (items.length !== nodes) throw new Error(`${items.length} of ${nodes} nodes are there`);
  const fetched: Record<string, Buffer[]> = {};
  for (const { name: encoding, accept } of encodings)
    for (const name of names) (fetched[encoding] ??= []).push(await fetchNode(transport, name, accept));
  return fetched;
}

async function fetchNode(transport: Transport, name: string, accept: string): Promise<Buffer> {
  const answer = await transport.send({ method: 'GET', path: `/api/v1/nodes/${name}`, headers: { accept } });
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer.body) chunks.push(chunk);
  if (answer.status !== 200) throw new Error(`GET of node ${name} was answered ${answer.status}`);
  return Buffer.concat(chunks);
}

/** CPU microseconds of this thread, a node. */
function time(all: readonly Buffer[], read: (bytes: Buffer) => Node): number {
  const before = process.threadCpuUsage();
  for (let index = 0; index < READS; index++) for (const bytes of all) read(bytes);
  const { system, user } = process.threadCpuUsage(before);
  return (user + system) / READS / all.length;
}

/** Of the heap, when all are held. */
function kept(all: readonly Buffer[], read: (bytes: Buffer) => Node): string {
  if (!globalThis.gc) return '(with --expose-gc)';
  const before = heapUsed();
  const held = all.map(read);
  const kilobytes = (heapUsed() - before) / held.length / 1000;
  return `${kilobytes.toFixed(1)} KB`;
}

/** Of what is in use. Code that is no longer used takes several collections to go. */
function heapUsed(): number {
  for (let index = 0; index < 10; index++) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}
