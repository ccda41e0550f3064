/**
 * One round of chaos on a real control plane: nodes register, two replicas of the program initialise them, another writer works
 * on some of them, and meanwhile things break. Entry point: `runChaosRound`. The same seed breaks the same things at the same times.
 */
import { appendFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client, type Node } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import {
  clientOf,
  startHollowNodes,
  type AuditEntry,
  type AuditMark,
  type ControlPlane,
  type Identity,
} from '@outrigger/testing';
import { planChaos, type ChaosPlan, type Strike } from './chaos-plan.ts';
import { faultsOfNode, isInitialised, type Machine } from './initialised-node.ts';
import { auditLeadership, type LeadershipAudit } from './leadership-audit.ts';
import { OtherWriter } from './other-writer.ts';
import { LEASE, LEASE_MS, Replica } from './replica.ts';
import { seededRandom } from './seeded-random.ts';

/** Start the control plane with these as `tokenUsers`. */
export const REPLICA_USERS: readonly Identity[] = [
  { user: 'replica-a', groups: ['system:masters'] },
  { user: 'replica-b', groups: ['system:masters'] },
];

const REGISTRATION_MS = 10_000;
const CLOUD_LATENCY_MS = 20;
const TOUCHED_SHARE = 0.2;
/** From the last strike until all nodes must be initialised, on a machine that has other things to do. What never comes is the fault. */
const BOUND_MS = 180_000;
/** Until somebody leads: a lease, a start of the program on a busy machine, and some. */
const LEADER_MS = 90_000;
const NODE_LEASES = 'kube-node-lease';
/** What was on the wire when a leader was struck has been answered after this. */
const STRIKE_MS = 200;
/** Problems that are told; more of them say no more. */
const MOST_PROBLEMS = 20;

export interface ChaosRoundOptions {
  readonly controlPlane: ControlPlane;
  readonly seed: number;
  readonly nodes: number;
  /** For the replicas' logs. */
  readonly directory: string;
}

export interface ChaosReport {
  readonly seed: number;
  readonly nodes: number;
  /** What must not be; empty: the round is passed. */
  readonly problems: readonly string[];
  /** From the first registration until all nodes were initialised, and until the last strike was over. */
  readonly initialisedMs: number;
  readonly strikesMs: number;
  /** How often each strike happened; of rules, how many requests they hit. */
  readonly strikes: Readonly<Record<string, number>>;
  readonly leadership: LeadershipAudit;
  /** Processes that ended by themselves because they had lost the Lease. */
  readonly lostLeases: number;
  /** Nodes that the other writer has worked on. */
  readonly touched: number;
  readonly heartbeats: number;
}

export async function runChaosRound(options: ChaosRoundOptions): Promise<ChaosReport> {
  await mkdir(options.directory, { recursive: true });
  await using client = await clientOf(options.controlPlane.kubeconfig.path);
  await removeNodes(client);
  const random = seededRandom(options.seed);
  const cloud = createMemoryCloud({
    clock: systemClock,
    random,
    region: 'north-1',
    settings: { latencyMs: CLOUD_LATENCY_MS },
  });
  await using served = await serveMemoryCloud(cloud);
  const cloudConfig = join(options.directory, 'cloud-config.json');
  await writeFile(cloudConfig, JSON.stringify({ endpoint: served.endpoint }));
  await using owned = new AsyncDisposableStack();
  const replicas: Replica[] = [];
  const mark = await options.controlPlane.auditLog.mark();
  for (const { user } of REPLICA_USERS)
    replicas.push(
      owned.use(await Replica.start({ ...options, user, cloudConfig, random: seededRandom(options.seed) })),
    );
  return await new Round(options, client, cloud, replicas, random).run(mark);
}

class Round {
  readonly #options: ChaosRoundOptions;
  readonly #client: Client;
  readonly #cloud: MemoryCloud;
  readonly #replicas: readonly Replica[];
  readonly #random: () => number;
  readonly #machines: readonly Machine[];
  readonly #strikes: Record<string, number> = {};
  readonly #ruleHits: { readonly name: string; readonly hits: () => number }[] = [];
  readonly #problems: string[] = [];
  /** When the last leader was struck; who has renewed since then is another, or came back. */
  #struckAt = Number.NEGATIVE_INFINITY;

  constructor(
    options: ChaosRoundOptions,
    client: Client,
    cloud: MemoryCloud,
    replicas: readonly Replica[],
    random: () => number,
  ) {
    this.#options = options;
    this.#client = client;
    this.#cloud = cloud;
    this.#replicas = replicas;
    this.#random = random;
    this.#machines = Array.from({ length: options.nodes }, (_, index) => createMachine(cloud, index));
  }

  /** `mark`: the end of the audit log before the replicas were started. */
  async run(mark: AuditMark): Promise<ChaosReport> {
    const { nodes } = this.#options;
    const plan = planChaos(this.#random, REGISTRATION_MS, LEASE_MS);
    const other = new OtherWriter(this.#client);
    await this.#leader();

    await using kubelets = await startHollowNodes({
      client: this.#client,
      count: 0,
      node: (index) => this.#machines[index] ?? { name: `unexpected-${index}` },
      heartbeats: { leaseMs: 5_000, statusMs: 10_000 },
      random: this.#random,
    });
    const started = systemClock.monotonic();
    const stop = new AbortController();
    const strikes = Promise.all([
      this.#strikeLeaders(plan.leader),
      ...plan.others.map(({ atMs, strike }) => this.#strikeAt(started + atMs, strike)),
    ]).then(() => systemClock.monotonic() - started);
    const touches: Promise<void>[] = [];
    const registrations: Promise<unknown>[] = [];
    for (let index = 0; index < nodes; index++) {
      await sleepUntil(started + (index / nodes) * REGISTRATION_MS);
      registrations.push(kubelets.add(1));
      const touched = this.#random() < TOUCHED_SHARE;
      const { name } = this.#machines[index]!;
      if (touched) touches.push(this.#touch(other, name, this.#random() * 1_000, stop.signal));
    }
    await Promise.all(registrations);
    const uids = await this.#uids();
    const strikesMs = await strikes;

    const initialisedMs = (await this.#untilInitialised()) - started;
    const beats = (): number => kubelets.counts.lease + kubelets.counts.status;
    const beatsBefore = beats();
    await this.#untilSettled(
      () => kubelets.ready === nodes && other.touched === touches.length && beats() >= beatsBefore + nodes / 2,
    );
    stop.abort();
    await Promise.allSettled(touches);
    await this.#checkNodes(other, uids);
    if (other.touched < touches.length)
      this.#problem(`the other writer could work on ${other.touched} of ${touches.length} nodes only`);
    if (beats() < beatsBefore + nodes / 2) this.#problem('the heartbeats have ended');
    const lostLeases = this.#replicas.flatMap(({ codes }) => codes).filter((code) => code === 1).length;
    await this.#stopReplicas();
    const leadership = auditLeadership(await this.#auditEntries(mark));
    for (const { at, holder, lateMs, node, user } of leadership.strays)
      this.#problem(`${user} wrote ${node} at ${at}, ${lateMs.toFixed(1)} ms after ${holder} had taken the Lease`);
    for (const deletion of leadership.deletions) this.#problem(`a replica asked for DELETE ${deletion}`);
    for (const { hits, name } of this.#ruleHits) this.#count(name, hits());
    return {
      seed: this.#options.seed,
      nodes,
      problems: this.#problems,
      initialisedMs,
      strikesMs,
      strikes: this.#strikes,
      leadership,
      lostLeases,
      touched: other.touched,
      heartbeats: beats(),
    };
  }

  async #touch(other: OtherWriter, name: string, delayMs: number, signal: AbortSignal): Promise<void> {
    await systemClock.sleep(delayMs, signal);
    await other.touch(name, signal);
  }

  /** One after the other, each at another leader. Resolves when the last one is over. */
  async #strikeLeaders(strikes: ChaosPlan['leader']): Promise<void> {
    const freezes: Promise<void>[] = [];
    for (const { afterMs, strike } of strikes) {
      const leader = await this.#leader();
      await systemClock.sleep(afterMs);
      this.#count(strike.kind);
      this.#struckAt = systemClock.monotonic();
      this.#note(`${leader.user} ${JSON.stringify(strike)}`);
      if (strike.kind === 'kill') await leader.kill();
      else freezes.push(leader.freeze(strike.ms));
    }
    await Promise.all(freezes);
  }

  async #strikeAt(at: number, strike: Strike): Promise<void> {
    await sleepUntil(at);
    this.#note(JSON.stringify(strike));
    switch (strike.kind) {
      case 'restart API server':
        this.#count(strike.kind);
        await this.#options.controlPlane.restartApiServer();
        return;
      case 'cut watches':
        for (const { proxy } of this.#replicas) this.#count(strike.kind, proxy.cutWatches(strike.how));
        return;
      case 'reset connections':
        this.#count(strike.kind);
        for (const { proxy } of this.#replicas) proxy.resetConnections();
        return;
      case 'cloud':
        this.#count(`cloud ${strike.effect === 'status' ? strike.status : strike.effect}`);
        this.#cloud.setFaults([{ effect: strike.effect, status: strike.status, times: strike.times }]);
        return;
      case 'rule': {
        const rules = this.#replicas.map(({ proxy }) => proxy.add(strike.rule));
        for (const rule of rules) this.#ruleHits.push({ name: strike.name, hits: () => rule.hits });
        if (strike.ms === undefined) return;
        await this.#untilSettled(() => rules.some(({ hits }) => hits > 0));
        await systemClock.sleep(strike.ms);
        for (const rule of rules) rule.remove();
        return;
      }
    }
  }

  /** The replica that leads; waits until there is one. */
  async #leader(): Promise<Replica> {
    const deadline = systemClock.monotonic() + LEADER_MS;
    for (;;) {
      const now = systemClock.monotonic();
      const [latest] = this.#replicas.toSorted((a, b) => b.renewedAt - a.renewedAt);
      if (latest && latest.renewedAt > Math.max(now - LEASE_MS / 2, this.#struckAt + STRIKE_MS)) return latest;
      if (now > deadline) {
        const logs = await Promise.all(this.#replicas.map((replica) => replica.lastLines(10)));
        throw new Error(`nobody leads within ${LEADER_MS / 1_000} s\n${logs.join('\n')}`);
      }
      await systemClock.sleep(50);
    }
  }

  /** Gives up after the bound; `#checkNodes` says then what is missing. */
  async #untilInitialised(): Promise<number> {
    await this.#untilSettled(async () => (await this.#nodes()).every(isInitialised));
    return systemClock.monotonic();
  }

  async #untilSettled(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = systemClock.monotonic() + BOUND_MS;
    while (!(await holds()) && systemClock.monotonic() < deadline) await systemClock.sleep(200);
  }

  async #checkNodes(other: OtherWriter, uids: ReadonlyMap<string, string>): Promise<void> {
    const nodes = new Map((await this.#nodes()).map((node) => [node.metadata?.name ?? '', node]));
    for (const machine of this.#machines) {
      const node = nodes.get(machine.name);
      if (!node || node.metadata?.uid !== uids.get(machine.name)) {
        this.#problem(`${machine.name}: the node was deleted`);
        continue;
      }
      for (const fault of faultsOfNode(node, machine)) this.#problem(fault);
      for (const lost of other.lostOn(node)) this.#problem(`lost: ${lost}`);
      // Of the API server's own admission plugin.
      if (!node.spec?.taints?.some(({ key }) => key === 'node.kubernetes.io/not-ready'))
        this.#problem(`${machine.name}: lost: taint node.kubernetes.io/not-ready`);
    }
    if (nodes.size !== this.#machines.length)
      this.#problem(`there are ${nodes.size} nodes, not ${this.#machines.length}`);
  }

  async #stopReplicas(): Promise<void> {
    for (const replica of this.#replicas) {
      for (const problem of await replica.problems()) this.#problem(problem);
      const problem = await replica.stop();
      if (problem !== undefined) this.#problem(problem);
    }
    const { spec } = await this.#client.of(resources.leases).get(LEASE);
    const holder = spec?.holderIdentity;
    if (!holder) return;
    const lost = await Promise.all(this.#replicas.map((replica) => replica.hasLost(holder)));
    if (!lost.includes(true)) this.#problem(`the Lease was not given back: ${holder} has it`);
  }

  async #auditEntries(since: AuditMark): Promise<readonly AuditEntry[]> {
    const users = new Set(REPLICA_USERS.map(({ user }) => user));
    const entries: AuditEntry[] = [];
    await this.#options.controlPlane.auditLog.count((entry) => {
      if (users.has(entry.user.username)) entries.push(entry);
      return undefined;
    }, since);
    return entries;
  }

  async #nodes(): Promise<readonly Node[]> {
    return listNodes(this.#client);
  }

  async #uids(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.#nodes()).map(({ metadata }) => [metadata?.name ?? '', metadata?.uid ?? '']));
  }

  #count(strike: string, by = 1): void {
    this.#strikes[strike] = (this.#strikes[strike] ?? 0) + by;
  }

  /** Beside the replicas' logs, for whoever has to find out what happened. */
  #note(strike: string): void {
    const time = new Date(systemClock.now()).toISOString();
    appendFileSync(join(this.#options.directory, 'strikes.log'), `${time} ${strike}\n`);
  }

  #problem(text: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push(text);
    else if (this.#problems.length === MOST_PROBLEMS) this.#problems.push('… and more');
  }
}

/** One line. */
export function chaosLine(report: ChaosReport): string {
  const { heartbeats, initialisedMs, leadership, lostLeases, nodes, problems, seed, strikes, strikesMs, touched } =
    report;
  const struck = Object.entries(strikes).map(([name, count]) => `${name} ${count}`);
  const verdict = problems.length === 0 ? 'passed' : 'FAILED';
  return (
    `seed ${seed}: ${verdict}: ${nodes} nodes initialised after ${(initialisedMs / 1_000).toFixed(1)} s ` +
    `(strikes until ${(strikesMs / 1_000).toFixed(1)} s), ${(leadership.succeeded / nodes).toFixed(3)} writes a node ` +
    `(${leadership.nodeWrites - leadership.succeeded} refused), ${leadership.terms} terms, ${lostLeases} leases lost, ` +
    `other writer ${touched} nodes, ${heartbeats} heartbeats; ${struck.join(', ')}`
  );
}

function createMachine(cloud: MemoryCloud, index: number): Machine {
  const name = `hollow-${String(index).padStart(4, '0')}`;
  const ip = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
  const externalIp = `203.0.${(index >> 8) & 255}.${index & 255}`;
  const addresses = [
    { type: 'InternalIP', address: ip },
    { type: 'ExternalIP', address: externalIp },
    { type: 'Hostname', address: name },
  ] as const;
  const { providerID, region, type, zone } = cloud.createInstance({ name, id: `i-${index}`, addresses });
  return { name, ip, externalIp, providerID, region, type, zone };
}

/** Asks again while the API server is away. */
async function listNodes(client: Client): Promise<readonly Node[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return (await client.of(resources.nodes).list()).items;
    } catch (error) {
      if (attempt === 50) throw error;
      await systemClock.sleep(200);
    }
  }
}

/** What a round before has left. */
async function removeNodes(client: Client): Promise<void> {
  await client.of(resources.nodes).deleteCollection();
  await client.of(resources.leases).deleteCollection({ namespace: NODE_LEASES });
}

async function sleepUntil(time: number): Promise<void> {
  const delay = time - systemClock.monotonic();
  if (delay > 0) await systemClock.sleep(delay);
}
