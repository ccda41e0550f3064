/**
 * `make run`: an API server, a cloud in memory, three kubelets and the real program, and what happens between them as it
 * happens: nodes join, a Service gets its address, a node leaves. Stays until Ctrl-C. ONCE=1: exits 0 when all has
 * converged, 1 with the reason when not within three minutes. CONTROL_PLANE=real: on etcd and kube-apiserver.
 */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { deadlineSignal, loadConfig, systemClock, whenAborted } from '@outrigger/kube';
import { startHollowNodes } from '@outrigger/testing';
import { startUi } from '@outrigger/ui';
import { actsOf } from './run/acts.ts';
import { startCloud } from './run/cloud.ts';
import { startCluster } from './run/cluster.ts';
import { follow } from './run/follow.ts';
import { createNarrator } from './run/narrator.ts';
import { startProgram } from './run/program.ts';
import { createScreen, seconds, type Screen } from './run/screen.ts';
import { explain, introduce, leading, outcome, short, summarise } from './run/show.ts';

const LIMIT_MS = 180_000;
/** Of --node-deletion-grace-period, whose default is 30 s: nobody wants to watch that. */
const GRACE = '2s';
const FLAGS = ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/16', `--node-deletion-grace-period=${GRACE}`];
const SERVICE = 'web';
const MACHINES = [
  { name: 'node-1', ip: '10.0.0.11', externalIp: '203.0.113.11', zone: 'north-1a', type: 'm.large' },
  { name: 'node-2', ip: '10.0.0.12', externalIp: '203.0.113.12', zone: 'north-1b', type: 'm.large' },
  { name: 'node-3', ip: '10.0.0.13', externalIp: '203.0.113.13', zone: 'north-1c', type: 'm.xlarge' },
];
const NAMES = MACHINES.map(({ name }) => name);
const LEAVING = { node: 'node-3', instanceId: 'i-0003' };

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
  screen.line(screen.bold('\nA cluster and its cloud, and the cloud-controller-manager between them.\n'));
  const started = systemClock.monotonic();
  if (real) screen.line(screen.dim('  starting etcd and kube-apiserver (built first if they are not found: minutes)'));
  await using cluster = await startCluster(real, kubeconfig);
  introduce(
    screen,
    'API server',
    cluster.url,
    `${cluster.kind}, ready after ${seconds(systemClock.monotonic() - started).trim()}`,
  );
  const narrator = createNarrator(screen);
  const deadline = deadlineSignal(systemClock, LIMIT_MS, 'all to converge');
  const signal = AbortSignal.any([stop.signal, deadline.signal]);
  const seen = follow({ client: cluster.client, narrator, signal });
  await using cloud = await startCloud(MACHINES, {
    configFile: cloudConfig,
    serviceOf: (uid) => [...seen.services].find(([, { metadata }]) => metadata?.uid === uid)?.[0] ?? uid,
    tell: ({ about, text }) => narrator.tell(about, [text]),
    look: () => narrator.look(),
  });
  introduce(screen, 'cloud', cloud.url, `in memory, ${MACHINES.length} instances, answers after ${cloud.latencyMs} ms`);
  const launched = systemClock.monotonic();
  await using program = await startProgram({ kubeconfig, cloudConfig, log, flags: FLAGS });
  const limits = { deadline: deadline.signal, limitMs: LIMIT_MS, log, stop: stop.signal };
  await leading(cluster, program, limits);
  const leads = seconds(systemClock.monotonic() - launched).trim();
  introduce(screen, 'program', program.url, `cloud-controller-manager, pid ${program.pid}, leads after ${leads}`);
  introduce(screen, 'its log', short(log), '');
  introduce(screen, 'kubeconfig', short(kubeconfig), '');
  screen.line(
    screen.dim('\n  This command plays the kubelets and what kube-controller-manager does: pod CIDRs, silent nodes.'),
  );
  screen.line(
    screen.dim(`  A node that is gone goes after --node-deletion-grace-period: ${GRACE} here, 30s by default.`),
  );

  await using kubelets = await startHollowNodes({
    client: cluster.client,
    count: 0,
    node: (index) => ({ name: NAMES[index] ?? '', ip: MACHINES[index]?.ip ?? '', images: 3 }),
    signal,
  });
  const { client } = cluster;
  const stage = { client, cloud, kubelets, narrator, seen, signal };
  for (const act of actsOf({ ...stage, nodes: NAMES, service: SERVICE, leaving: LEAVING })) {
    narrator.begin(act.title);
    const over = act.begin().then(() => narrator.until(() => act.missing(), signal));
    const failure = await outcome(over, seen, program, limits);
    if (failure === undefined) continue;
    explain(screen, failure, act, { program, log });
    return 1;
  }
  deadline.cancel();
  summarise(screen, seen);
  screen.line(screen.green(`\n  All is as it should be; the cloud was asked ${cloud.calls()} times.`));
  if (!once) {
    await using ui = await uiOf(program.url);
    screen.line(`\n  Look at it: ${screen.bold(ui.link)} (the page of outrigger ui; the link works once)`);
    screen.line(
      `  Running until Ctrl-C. Try: ${screen.bold(`kubectl --kubeconfig ${short(kubeconfig)} get nodes,services`)}\n`,
    );
    await Promise.race([whenAborted(stop.signal), program.ended]);
    screen.line(screen.dim('\n  stopping'));
  }
  const code = await program.stop();
  if (code !== 0) {
    explain(screen, `the program ended with exit code ${code}`, undefined, { program, log });
    return 1;
  }
  screen.line(screen.dim('  the program gave its lease back and ended with exit code 0\n'));
  return 0;
}

/** The page of `outrigger ui` for this program, whose certificate is its own. */
async function uiOf(server: string): Promise<Awaited<ReturnType<typeof startUi>>> {
  const cluster = await loadConfig({ kubeconfig });
  const manager = { ...cluster, server, tls: { ...cluster.tls, insecureSkipVerify: true } };
  const lease = { namespace: 'kube-system', name: 'cloud-controller-manager' };
  return startUi({
    cluster,
    findLeader: () => Promise.resolve(manager),
    leaderAccess: () => ({ url: server, configOf: () => manager }),
    lease,
    port: 0,
    timeoutMs: 10_000,
    clock: systemClock,
  });
}
