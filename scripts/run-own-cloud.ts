/**
 * `make run CLOUD_PROVIDER=./provider.ts CLOUD_CONFIG=cloud.yaml NODES=node-1,node-2`: an API server, kubelets of the machines that are
 * named, and the real program between them and the author's own cloud. What was made in that is taken back at the end, also after
 * Ctrl-C and when something fails. Exits 0 when all has come and gone.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadlineSignal, resources, systemClock } from '@outrigger/kube';
import { startHollowNodes } from '@outrigger/testing';
import type { Act } from './run/acts.ts';
import { startCluster } from './run/cluster.ts';
import { follow } from './run/follow.ts';
import { createNarrator } from './run/narrator.ts';
import { endRun, ownActsOf, takingBack } from './run/own-acts.ts';
import { namesIn, openOwnCloud } from './run/own-cloud.ts';
import { startProgram } from './run/program.ts';
import { createScreen } from './run/screen.ts';
import { explain, introduce, leading, outcome, short, summarise } from './run/show.ts';

/** A real cloud takes minutes for a load balancer. */
const LIMIT_MS = 15 * 60_000;
/** For what has to go at the end, whatever came before. */
const CLEANUP_MS = 10 * 60_000;
const SERVICE = 'web';
const ROUTE_FLAGS = ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16'];

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
// Not that of the other demonstration, which may run beside it.
const directory = path.join(root, '.outrigger/own-cloud');
const kubeconfig = path.join(directory, 'kubeconfig');
const log = path.join(directory, 'cloud-controller-manager.log');
const { CLOUD_CONFIG: config = '', CLOUD_PROVIDER: provider = '', NODES = '' } = process.env;
const nodes = namesIn(NODES);

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => stop.abort());
// The terminal is closed, or what reads the pipe has ended: as Ctrl-C. Unheard, it would end this at once, and leave in the cloud what was made.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => stop.abort());

const screen = createScreen(process.stdout, process.env);
process.exitCode = await tell().catch((error: unknown) => {
  screen.line(screen.red(`\n${error instanceof Error ? error.message : String(error)}`));
  return 1;
});
process.exit();

async function tell(): Promise<number> {
  await mkdir(directory, { recursive: true });
  screen.line(screen.bold('\nA cluster, your cloud, and the cloud-controller-manager between them.\n'));
  await using cluster = await startCluster(process.env['CONTROL_PLANE'] === 'real', kubeconfig);
  const { client } = cluster;
  const { metadata } = await client.of(resources.namespaces).get({ name: 'kube-system' }, { signal: stop.signal });
  // Once it has begun, Ctrl-C takes back what was made, and so must leave the cloud open.
  const ended = new AbortController();
  await using cloud = await openOwnCloud({
    provider,
    config,
    nodes,
    workingDirectory: process.cwd(),
    clusterId: metadata?.uid ?? '',
    signal: ended.signal,
  });
  introduce(screen, 'API server', cluster.url, cluster.kind);
  introduce(screen, 'cloud', cloud.name, `${nodes.length} machines found`);
  const narrator = createNarrator(screen);
  const seen = follow({ client, narrator, signal: ended.signal });
  const deadline = deadlineSignal(systemClock, LIMIT_MS, 'all to converge');
  const limits = { deadline: deadline.signal, limitMs: LIMIT_MS, log, stop: stop.signal };
  await using program = await startProgram({
    kubeconfig,
    cloudProvider: path.extname(provider) === '' ? provider : path.resolve(provider),
    cloudConfig: config === '' ? '' : path.resolve(config),
    log,
    flags: cloud.hasRoutes ? ROUTE_FLAGS : [],
  });
  await leading(cluster, program, limits);
  introduce(screen, 'program', program.url, `cloud-controller-manager, pid ${program.pid}`);
  introduce(screen, 'its log', short(log), '');
  introduce(screen, 'kubeconfig', short(kubeconfig), '');
  await using kubelets = await startHollowNodes({
    client,
    count: 0,
    node: (index) => ({
      name: nodes[index] ?? '',
      ip: cloud.machines.get(nodes[index] ?? '')?.address ?? '',
      images: 3,
    }),
    signal: ended.signal,
  });
  const stage = { client, cloud, kubelets, seen, nodes, service: SERVICE };
  const play = async (act: Act, signal: AbortSignal, bounds: typeof limits): Promise<boolean> => {
    narrator.begin(act.title);
    const over = act.begin().then(() => narrator.until(() => act.missing(), signal));
    const failure = await outcome(over, seen, program, bounds).catch((error: unknown) => {
      if (bounds.stop.aborted) return 'stopped';
      throw error;
    });
    if (failure !== undefined) explain(screen, failure, act, { program, log });
    return failure === undefined;
  };
  let isFine = true;
  try {
    const signal = AbortSignal.any([stop.signal, deadline.signal]);
    for (const act of ownActsOf({ ...stage, signal })) {
      isFine = await play(act, signal, limits);
      if (!isFine) break;
    }
    if (isFine) summarise(screen, seen);
  } finally {
    deadline.cancel();
    const cleanUp = deadlineSignal(systemClock, CLEANUP_MS, 'all to be taken back');
    const bounds = { ...limits, deadline: cleanUp.signal, limitMs: CLEANUP_MS, stop: ended.signal };
    const isGone = await endRun({
      takeBack: () => play(takingBack({ ...stage, signal: cleanUp.signal }), cleanUp.signal, bounds),
      program,
      cloud,
      tell: (text) => screen.line(screen.red(`  ${text}`)),
    });
    cleanUp.cancel();
    isFine = isFine && isGone;
    ended.abort();
  }
  if (isFine) screen.line(screen.green('\n  All came, and all is gone again.\n'));
  // Somebody ended it, be it in its last moment.
  return isFine && !stop.signal.aborted ? 0 : 1;
}
