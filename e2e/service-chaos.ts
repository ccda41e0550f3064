/**
 * One round of chaos with Services on a real control plane: 100 of them, each of four parts in the cloud, are created, changed
 * and deleted, while the program is killed with -9 again and again and the cloud loses answers after it has done the work.
 * Entry point: `runServiceRound`. The same seed does the same things at the same times.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client, type Service } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { clientOf, hollowNode, type ControlPlane } from '@outrigger/testing';
import { Manager } from './manager.ts';
import { seededRandom } from './seeded-random.ts';
import { addressOf, faultsOfServices } from './served-services.ts';

const NAMESPACE = 'default';
const PERIOD_MS = 6_000;
/** A program that has begun to change the cloud is killed within this time. */
const KILLED_WITHIN_MS = 700;
const LOST_ANSWERS = 0.03;
/**
 * From the last kill until the cloud must be as the Services say, by the program's clock: what failed is tried again after 300 s
 * at the latest.
 */
const BOUND_MS = 900_000;
/** And so long at least by the clock of a machine that has other things to do, which no haste makes faster. */
const LEAST_BOUND_MS = 180_000;
/** Until a program that was started changes something. */
const START_MS = 30_000;
const NODES = 3;

export interface ServiceRoundOptions {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly services: number;
  /** How often the program is killed. */
  readonly kills: number;
  /** How many times faster time passes for the program. */
  readonly haste: number;
  /** The Services come, change and go in this time. Default: 6,000. */
  readonly periodMs?: number;
  /** For the program's log. */
  readonly directory: string;
}

export interface ServiceReport {
  readonly seed: number;
  readonly services: number;
  /** What must not be; empty: the round is passed. */
  readonly problems: readonly string[];
  readonly deleted: number;
  readonly changed: number;
  readonly kills: number;
  /** Of those, at which a load balancer was half made or half gone. */
  readonly killsAmidWork: number;
  /** Answers that the cloud has lost, after it had done the work. */
  readonly lostAnswers: number;
  readonly cloudCalls: number;
  /** From the last kill until all was as it must be. */
  readonly settledMs: number;
}

/** What happens to one Service; milliseconds from the begin. */
interface Life {
  readonly name: string;
  readonly createdAt: number;
  readonly changes: readonly { readonly at: number; readonly what: 'port' | 'leave' }[];
  readonly deletedAt: number | undefined;
}

export async function runServiceRound(options: ServiceRoundOptions): Promise<ServiceReport> {
  const { controlPlane, directory, seed } = options;
  await mkdir(directory, { recursive: true });
  await using client = await clientOf(controlPlane.kubeconfig.path);
  const random = seededRandom(seed);
  const settings = { latencyMs: 10, loadBalancerDelayMs: 300 };
  const cloud = createMemoryCloud({ clock: systemClock, random, settings });
  await using served = await serveMemoryCloud(cloud);
  const cloudConfig = join(directory, 'cloud-config.json');
  await writeFile(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  await addNodes(client, cloud);
  const args = [
    '--cloud-provider=memory',
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${controlPlane.kubeconfig.path}`,
    '--secure-port=0',
    // One at a time is what this is about; chaos with nodes is about the Lease.
    '--leader-elect=false',
    '--v=4',
  ];
  await using manager = new Manager(args, join(directory, 'manager.log'), options.haste);
  manager.start();
  const lives = planLives(random, options.services, options.periodMs ?? PERIOD_MS);
  const killDelays = Array.from({ length: options.kills }, () => random() * KILLED_WITHIN_MS);
  cloud.setFaults([{ effect: 'lost', status: 500, probability: LOST_ANSWERS }]);

  const boundMs = Math.max(BOUND_MS / options.haste, LEAST_BOUND_MS);
  const problems: string[] = [];
  const began = systemClock.monotonic();
  const ended = new AbortController();
  const watching = watchAddresses(client, problems, ended.signal);
  const living = Promise.all(lives.map((life) => live(client, life, began)));
  let kills = 0;
  let killsAmidWork = 0;
  for (const delayMs of killDelays) {
    // A program that has nothing to do any more is not worth killing.
    if (!(await changesSomething(cloud))) break;
    await systemClock.sleep(delayMs);
    if (isAmidWork(cloud)) killsAmidWork++;
    kills++;
    await manager.end('SIGKILL');
    manager.start();
  }
  await living;
  const killed = systemClock.monotonic();
  const lostAnswers = cloud.calls().last.filter(({ status }) => status === 500).length;
  let faults = await faultsNow(client, cloud);
  while (faults.length > 0 && systemClock.monotonic() < killed + boundMs) {
    await systemClock.sleep(100);
    faults = await faultsNow(client, cloud);
  }
  problems.push(...faults.slice(0, 20));
  const settledMs = systemClock.monotonic() - killed;
  ended.abort();
  await watching;
  const missing = await faultsOfCount(client, lives);
  problems.push(...missing);
  // What stays is taken away at last: nothing may be left in the cloud then.
  await Promise.all(
    (await list(client)).map(({ metadata }) =>
      client.of(resources.services).delete({ namespace: NAMESPACE, name: metadata?.name ?? '' }),
    ),
  );
  const emptied = systemClock.monotonic();
  while ((cloud.parts().length > 0 || (await list(client)).length > 0) && systemClock.monotonic() < emptied + boundMs)
    await systemClock.sleep(100);
  for (const { id } of cloud.parts().slice(0, 20)) problems.push(`leaked when all Services were gone: ${id}`);
  const cloudCalls = cloud.calls().total;
  const code = await manager.end('SIGTERM');
  if (code !== 0) problems.push(`the program ended with ${code ?? 'a signal'} after SIGTERM`);
  await client.of(resources.nodes).deleteCollection();
  return {
    seed,
    services: options.services,
    problems,
    deleted: lives.filter(({ deletedAt }) => deletedAt !== undefined).length,
    changed: lives.reduce((sum, { changes }) => sum + changes.length, 0),
    kills,
    killsAmidWork,
    lostAnswers,
    cloudCalls,
    settledMs,
  };
}

/** One line. */
export function serviceLine(report: ServiceReport): string {
  const { changed, cloudCalls, deleted, kills, killsAmidWork, lostAnswers, problems, seed, services, settledMs } =
    report;
  return (
    `seed ${seed}: ${problems.length === 0 ? 'passed' : 'FAILED'}: ${services} services, ${changed} changes, ` +
    `${deleted} deleted, ${kills} kills (${killsAmidWork} amid work), ${lostAnswers} answers lost, ${cloudCalls} cloud ` +
    `calls, as it must be ${(settledMs / 1_000).toFixed(1)} s after the last kill`
  );
}

/** Half are deleted, some of them while they are being made; a third changes its port, a tenth its type. */
function planLives(random: () => number, count: number, periodMs: number): readonly Life[] {
  return Array.from({ length: count }, (_, index) => {
    const createdAt = 0.5 * random() * periodMs;
    const later = (): number => createdAt + random() * (periodMs - createdAt);
    const deletedAt = random() < 0.5 ? later() : undefined;
    const changes = [
      ...(random() < 0.33 ? [{ at: later(), what: 'port' as const }] : []),
      ...(random() < 0.1 ? [{ at: later(), what: 'leave' as const }] : []),
    ].filter(({ at }) => deletedAt === undefined || at < deletedAt);
    return { name: `service-${index}`, createdAt, deletedAt, changes: changes.toSorted((a, b) => a.at - b.at) };
  });
}

async function live(client: Client, { name, createdAt, changes, deletedAt }: Life, began: number): Promise<void> {
  const services = client.of(resources.services);
  const ref = { namespace: NAMESPACE, name };
  await sleepUntil(began + createdAt);
  await services.create({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: ref,
    spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }] },
  });
  for (const { at, what } of changes) {
    await sleepUntil(began + at);
    const spec = what === 'port' ? { ports: [{ port: 8080, protocol: 'TCP' }] } : { type: 'ClusterIP' };
    await services.patch(ref, { type: 'merge', body: { spec } });
  }
  if (deletedAt === undefined) return;
  await sleepUntil(began + deletedAt);
  await services.delete(ref);
}

/** A load balancer that serves keeps its address for as long as it is wanted. */
async function watchAddresses(client: Client, problems: string[], signal: AbortSignal): Promise<void> {
  const addresses = new Map<string, string>();
  while (!signal.aborted) {
    for (const service of await list(client)) {
      const { deletionTimestamp, name = '', uid = '' } = service.metadata ?? {};
      if (deletionTimestamp !== undefined || service.spec?.type !== 'LoadBalancer') continue;
      const [before, now] = [addresses.get(uid), addressOf(service)];
      if (before !== undefined && now !== before)
        problems.push(`${name}: its address ${before} became ${now ?? 'none'}`);
      if (now !== undefined) addresses.set(uid, now);
    }
    await systemClock.sleep(200);
  }
}

async function faultsNow(client: Client, cloud: MemoryCloud): Promise<readonly string[]> {
  return faultsOfServices(await list(client), cloud.parts());
}

/** The finalizer keeps nothing that is to go, and nothing else goes. */
async function faultsOfCount(client: Client, lives: readonly Life[]): Promise<readonly string[]> {
  const there = new Set((await list(client)).map(({ metadata }) => metadata?.name));
  return lives
    .filter(({ deletedAt, name }) => there.has(name) !== (deletedAt === undefined))
    .map(({ deletedAt, name }) => (deletedAt === undefined ? `${name}: was deleted` : `${name}: is still there`));
}

/** Waits until the cloud was asked to change something from now on. */
async function changesSomething(cloud: MemoryCloud): Promise<boolean> {
  const changes = (): number =>
    Object.entries(cloud.calls().byOperation)
      .filter(([operation]) => !operation.startsWith('GET ') && operation.includes('/parts'))
      .reduce((sum, [, count]) => sum + count, 0);
  const before = changes();
  const deadline = systemClock.monotonic() + START_MS;
  while (changes() === before && systemClock.monotonic() < deadline) await systemClock.sleep(10);
  return changes() > before;
}

function isAmidWork(cloud: MemoryCloud): boolean {
  const counts = new Map<string, number>();
  for (const { tags } of cloud.parts()) counts.set(tags['uid'] ?? '', (counts.get(tags['uid'] ?? '') ?? 0) + 1);
  return [...counts.values()].some((count) => count < 4);
}

/** Without the API server's own Service. */
async function list(client: Client): Promise<readonly Service[]> {
  const { items } = await client.of(resources.services).list({ namespace: NAMESPACE });
  return items.filter(({ metadata }) => metadata?.name !== 'kubernetes');
}

async function addNodes(client: Client, cloud: MemoryCloud): Promise<void> {
  for (let index = 0; index < NODES; index++) {
    const { name } = cloud.createInstance({ name: `back-end-${index}` });
    await client.of(resources.nodes).create(hollowNode({ name, images: 1, now: systemClock.now() }));
  }
}

async function sleepUntil(time: number): Promise<void> {
  const delay = time - systemClock.monotonic();
  if (delay > 0) await systemClock.sleep(delay);
}
