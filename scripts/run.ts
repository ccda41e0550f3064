/**
 * `make run`: an API server, a cloud in memory, three kubelets and the real program, and what happens between them as it
 * happens. Stays until Ctrl-C. ONCE=1: exits 0 when all has converged, 1 with the reason when not within 60 s.
 * CONTROL_PLANE=real: on etcd and kube-apiserver.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadlineSignal, resources, systemClock } from '@outrigger/kube';
import { startHollowNodes } from '@outrigger/testing';
import { startCloud, type RunCloud } from './run/cloud.ts';
import { startCluster, type Cluster } from './run/cluster.ts';
import { addressesOf, labelOf, missingOf } from './run/node-story.ts';
import { narrate, type Narrator } from './run/narrator.ts';
import { startProgram, type Program } from './run/program.ts';
import { createScreen, renderTable, seconds, type Screen } from './run/screen.ts';

const LIMIT_MS = 60_000;
const MACHINES = [
  { name: 'node-1', ip: '10.0.0.11', externalIp: '203.0.113.11', zone: 'north-1a', type: 'm.large' },
  { name: 'node-2', ip: '10.0.0.12', externalIp: '203.0.113.12', zone: 'north-1b', type: 'm.large' },
  { name: 'node-3', ip: '10.0.0.13', externalIp: '203.0.113.13', zone: 'north-1c', type: 'm.xlarge' },
];
const NAMES = MACHINES.map(({ name }) => name);

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const directory = join(root, '.outrigger');
const kubeconfig = join(directory, 'kubeconfig');
const cloudConfig = join(directory, 'cloud-config.json');
const log = join(directory, 'cloud-controller-manager.log');
const once = (process.env['ONCE'] ?? '') !== '' && process.env['ONCE'] !== '0';
const real = process.env['CONTROL_PLANE'] === 'real';

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());

process.exitCode = await run(createScreen(process.stdout, process.env));
// Whatever the outcome, every child has been waited for by now.
process.exit();

async function run(screen: Screen): Promise<number> {
  try {
    return await tell(screen);
  } catch (error) {
    if (stop.signal.aborted) return once ? 1 : 0;
    screen.line(screen.red(`\n${error instanceof Error ? error.message : String(error)}`));
    return 1;
  }
}

async function tell(screen: Screen): Promise<number> {
  if (!['', 'real', 'embedded'].includes(process.env['CONTROL_PLANE'] ?? '')) {
    throw new Error(
      `CONTROL_PLANE=${process.env['CONTROL_PLANE']}: write real, or nothing for the embedded API server`,
    );
  }
  await mkdir(directory, { recursive: true });
  screen.line(screen.bold('\nThree nodes join a cluster, and the cloud-controller-manager initialises them.\n'));
  const started = systemClock.monotonic();
  if (real) screen.line(screen.dim('  starting etcd and kube-apiserver (built first if they are not found: minutes)'));
  await using cluster = await startCluster(real, kubeconfig);
  introduce(
    screen,
    'API server',
    cluster.url,
    `${cluster.kind}, ready after ${seconds(systemClock.monotonic() - started).trim()}`,
  );
  await using cloud = await startCloud(MACHINES, cloudConfig);
  introduce(screen, 'cloud', cloud.url, `in memory, ${MACHINES.length} instances, answers after ${cloud.latencyMs} ms`);
  const launched = systemClock.monotonic();
  await using program = await startProgram({ kubeconfig, cloudConfig, log });
  await leading(cluster, program);
  const leads = seconds(systemClock.monotonic() - launched).trim();
  introduce(
    screen,
    'program',
    program.url,
    `cloud-controller-manager, pid ${program.pid}, leads after ${leads}, log ${short(log)}`,
  );
  introduce(screen, 'kubeconfig', short(kubeconfig), `kubectl --kubeconfig ${short(kubeconfig)} get nodes -o wide`);
  screen.line(screen.dim('\n  times are since the node was registered'));

  const deadline = deadlineSignal(systemClock, LIMIT_MS, 'nodes initialised');
  const narrator = narrate({
    client: cluster.client,
    names: NAMES,
    screen,
    signal: AbortSignal.any([stop.signal, deadline.signal]),
  });
  cloud.onFound((name, together) =>
    narrator.tell(name, `instance found in the cloud, ${count(together, 'node')} in one look-up`),
  );
  await using _nodes = await startHollowNodes({
    client: cluster.client,
    count: MACHINES.length,
    node: (index) => ({ name: NAMES[index] ?? '', ip: MACHINES[index]?.ip ?? '', images: 3 }),
    signal: stop.signal,
  });
  const failure = await outcome(narrator, program, deadline.signal);
  deadline.cancel();
  if (failure !== undefined) {
    explain(screen, failure, narrator, program);
    return 1;
  }
  summarise(screen, narrator, cloud);
  if (!once) {
    screen.line(
      `\n  Running until Ctrl-C. Try: ${screen.bold(`kubectl --kubeconfig ${short(kubeconfig)} get nodes -o wide`)}\n`,
    );
    await Promise.race([new Promise((resolve) => stop.signal.addEventListener('abort', resolve)), program.ended]);
    screen.line(screen.dim('\n  stopping'));
  }
  const code = await program.stop();
  if (code !== 0) {
    explain(screen, `the program ended with exit code ${code}`, narrator, program);
    return 1;
  }
  screen.line(screen.dim('  the program gave its lease back and ended with exit code 0\n'));
  return 0;
}

/** Nodes join a cluster whose manager is there: their times are then those of the work, not of its start. */
async function leading({ client }: Cluster, program: Program): Promise<void> {
  const limit = deadlineSignal(systemClock, LIMIT_MS, 'the program to lead');
  const signal = AbortSignal.any([stop.signal, limit.signal]);
  let ended: number | undefined;
  void program.ended.then((code) => (ended = code));
  const ref = { namespace: 'kube-system', name: 'cloud-controller-manager' };
  for (;;) {
    const lease = await client
      .of(resources.leases)
      .get(ref, { signal })
      .catch(() => undefined);
    if (lease?.spec?.holderIdentity) break;
    if (ended !== undefined || limit.signal.aborted) {
      const why = ended === undefined ? `does not lead after ${LIMIT_MS / 1_000} s` : `ended with exit code ${ended}`;
      throw new Error(`the program ${why}; the end of ${short(log)}:\n${program.lastLines(8).join('\n')}`);
    }
    await systemClock.sleep(20, signal);
  }
  limit.cancel();
}

/** `undefined` when all nodes have converged, else why not. */
async function outcome(narrator: Narrator, program: Program, deadline: AbortSignal): Promise<string | undefined> {
  const first = await Promise.race([
    narrator.converged
      .then(() => undefined)
      .catch((error: unknown) => new Error('the watch of nodes failed', { cause: error })),
    program.ended.then((code) => `the program ended with exit code ${code}`),
  ]);
  if (first === undefined || typeof first === 'string') return first;
  stop.signal.throwIfAborted();
  if (deadline.aborted) return `not all nodes have converged within ${LIMIT_MS / 1_000} s`;
  throw first;
}

function introduce(screen: Screen, what: string, where: string, how: string): void {
  screen.line(`  ${screen.bold(what.padEnd(11))} ${where.padEnd(25)} ${screen.dim(how)}`);
}

function summarise(screen: Screen, narrator: Narrator, cloud: RunCloud): void {
  const rows = NAMES.map((name) => {
    const node = narrator.node(name) ?? {};
    return [
      name,
      node.spec?.providerID ?? '',
      labelOf(node, 'node.kubernetes.io/instance-type'),
      labelOf(node, 'topology.kubernetes.io/zone'),
      addressesOf(node),
      seconds(narrator.initialisedAfter(name) ?? 0).trim(),
    ];
  });
  screen.line();
  const [head = '', ...lines] = renderTable([
    ['NODE', 'PROVIDER ID', 'TYPE', 'ZONE', 'ADDRESSES', 'INITIALISED AFTER'],
    ...rows,
  ]);
  screen.line(`  ${screen.dim(head)}`);
  for (const line of lines) screen.line(`  ${line}`);
  screen.line(
    screen.green(
      `\n  All ${NAMES.length} nodes are initialised and Ready; the cloud was asked ${count(cloud.calls(), 'time')}.`,
    ),
  );
}

function explain(screen: Screen, why: string, narrator: Narrator, program: Program): void {
  screen.line(screen.red(`\n  ${why}`));
  for (const name of NAMES) {
    const missing = missingOf(narrator.node(name));
    if (missing.length > 0) screen.line(`  ${screen.bold(name)}  ${missing.join(', ')}`);
  }
  screen.line(screen.dim(`\n  the end of ${short(log)}:`));
  for (const line of program.lastLines(8)) screen.line(`  ${line}`);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function short(path: string): string {
  const name = relative(process.cwd(), path);
  return name.startsWith('..') ? path : name;
}
