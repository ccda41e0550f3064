/**
 * A cloud that says nothing but wrong things, on a real control plane: 100 nodes are NotReady and alive, ten more have registered
 * before the cloud shows their machines, and the cloud answers 429, 500, empty lists, and at last 404 for machines that there are.
 * Entry point: `runFaultRound`. Passed when no node was deleted and the cloud was asked at most once a second: not counting the
 * first question about each node, which is asked when its news comes, and one question under way whenever the cloud changes.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type FaultRule } from '@outrigger/provider-memory';
import { clientOf, hollowNode, type ControlPlane } from '@outrigger/testing';
import { isInitialised } from './initialised-node.ts';
import { Manager } from './manager.ts';
import { seededRandom } from './seeded-random.ts';

const LATE_NODES = 10;
const FIRST_QUESTIONS = 'first questions';
/** One by the node controller, one by the lifecycle controller. */
const QUESTIONS_OF_LATE = 2;
const LATE_MS = 30_000;
const LIMIT_MS = 240_000;

interface Lie {
  readonly name: string;
  /** Part of the whole time. */
  readonly share: number;
  readonly rules: readonly FaultRule[];
}

const EMPTY: FaultRule = { effect: 'empty' };

/** The last is longer than the program waits between two proofs that a machine is gone. */
const LIES: readonly Lie[] = [
  { name: '429', share: 0.1, rules: [{ effect: 'status', status: 429, retryAfterSeconds: 1 }] },
  { name: '500', share: 0.1, rules: [{ effect: 'status', status: 500 }] },
  {
    name: 'lists empty, reads 500',
    share: 0.15,
    rules: [{ operation: 'GET /instances/{id}', effect: 'status', status: 500 }, EMPTY],
  },
  {
    name: 'lists empty, reads 404',
    share: 0.65,
    rules: [{ operation: 'GET /instances/{id}', effect: 'status', status: 404 }, EMPTY],
  },
];

export interface FaultRoundOptions {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly nodes: number;
  readonly durationMs: number;
  /** For the program's log. */
  readonly directory: string;
}

export interface FaultReport {
  readonly seed: number;
  readonly nodes: number;
  /** What must not be; empty: the round is passed. */
  readonly problems: readonly string[];
  readonly deletions: number;
  /** Of the cloud, in each part. */
  readonly calls: Readonly<Record<string, number>>;
  readonly seconds: number;
}

export async function runFaultRound(options: FaultRoundOptions): Promise<FaultReport> {
  const { controlPlane, directory, durationMs, seed } = options;
  await mkdir(directory, { recursive: true });
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const nodes = client.of(resources.nodes);
  await nodes.deleteCollection();
  const cloud = createMemoryCloud({ clock: systemClock, random: seededRandom(seed), settings: { latencyMs: 20 } });
  await using served = await serveMemoryCloud(cloud);
  const cloudConfig = join(directory, 'cloud-config.json');
  await writeFile(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  const alive = Array.from({ length: options.nodes }, (_, index) => `alive-${index}`);
  for (const name of alive) cloud.createInstance({ name });
  await register(client, alive);
  const args = [
    '--cloud-provider=memory',
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${controlPlane.kubeconfig.path}`,
    '--secure-port=0',
    '--leader-elect=false',
    '--v=4',
  ];
  await using manager = new Manager(args, join(directory, 'manager.log'));
  manager.start();
  const initialised = async (): Promise<number> => (await nodes.list()).items.filter(isInitialised).length;
  await until(`${alive.length} nodes are initialised`, async () => (await initialised()) === alive.length);
  const problems: string[] = [];
  const calls: Record<string, number> = {};
  const mark = await controlPlane.auditLog.mark();

  // Machines that the cloud shows half a minute after their kubelets have registered.
  cloud.resetCalls();
  const late = Array.from({ length: LATE_NODES }, (_, index) => `late-${index}`);
  const began = systemClock.monotonic();
  await register(client, late);
  await Promise.all([...alive, ...late].map((name) => setNotReady(client, name)));
  // News that come one by one, because the machine is busy, are asked about one by one.
  calls[FIRST_QUESTIONS] = cloud.calls().total;
  const questions = alive.length + QUESTIONS_OF_LATE * late.length;
  if (calls[FIRST_QUESTIONS] > questions) problems.push(`${questions} questions made ${calls[FIRST_QUESTIONS]} calls`);
  cloud.resetCalls();
  const told = systemClock.monotonic();
  await systemClock.sleep(Math.max(0, LATE_MS - (systemClock.monotonic() - began)));
  calls['machines appear late'] = cloud.calls().total;
  for (const name of late) cloud.createInstance({ name });
  await until('the late nodes are initialised', async () => (await initialised()) === alive.length + late.length);

  for (const { name, share, rules } of LIES) {
    cloud.resetCalls();
    cloud.setFaults(rules);
    // News of each node, so that nobody can be silent because nothing happens.
    await Promise.all(alive.map((node) => setNotReady(client, node)));
    await systemClock.sleep(share * durationMs);
    calls[name] = cloud.calls().total;
  }
  cloud.setFaults([]);
  const total = Object.values(calls).reduce((sum, count) => sum + count, 0) - calls[FIRST_QUESTIONS];
  const seconds = (systemClock.monotonic() - told) / 1_000;
  // First questions that a busy machine has asked later than they were counted.
  const notYetAsked = Math.max(0, questions - calls[FIRST_QUESTIONS]);
  if (total > seconds + LIES.length + notYetAsked)
    problems.push(`the cloud was asked ${total} times in ${seconds.toFixed(0)} s`);
  const there = new Set((await nodes.list()).items.map(({ metadata }) => metadata?.name));
  for (const name of [...alive, ...late]) if (!there.has(name)) problems.push(`${name}: was deleted and is alive`);
  const deletions = await controlPlane.auditLog.count(
    ({ objectRef, verb }) => (verb === 'delete' && objectRef?.resource === 'nodes' ? 'deletions' : undefined),
    mark,
  );
  const asked = deletions['deletions'] ?? 0;
  if (asked > 0) problems.push(`asked ${asked} times to delete a node`);
  const code = await manager.end('SIGTERM');
  if (code !== 0) problems.push(`the program ended with ${code ?? 'a signal'} after SIGTERM`);
  await nodes.deleteCollection();
  return { seed, nodes: options.nodes, problems, deletions: asked, calls, seconds };
}

/** One line. */
export function faultLine({ calls, deletions, nodes, problems, seconds, seed }: FaultReport): string {
  const told = Object.entries(calls).map(([name, count]) => `${name} ${count} calls`);
  return (
    `seed ${seed}: ${problems.length === 0 ? 'passed' : 'FAILED'}: ${nodes} nodes NotReady and alive, ${LATE_NODES} late, ` +
    `${deletions} deletions in ${seconds.toFixed(0)} s; ${told.join(', ')}`
  );
}

async function register(client: Client, names: readonly string[]): Promise<void> {
  const now = systemClock.now();
  await Promise.all(names.map((name) => client.of(resources.nodes).create(hollowNode({ name, images: 1, now }))));
}

async function setNotReady(client: Client, name: string): Promise<void> {
  const at = new Date(systemClock.now()).toISOString();
  const ready = { type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: at, lastTransitionTime: at };
  const patch = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
  await client.of(resources.nodes).patch({ name }, patch, { subresource: 'status' });
}

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = systemClock.monotonic() + LIMIT_MS;
  while (!(await holds())) {
    if (systemClock.monotonic() > deadline) throw new Error(`not within ${LIMIT_MS / 1_000} s: ${what}`);
    await systemClock.sleep(100);
  }
}
