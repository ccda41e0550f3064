/**
 * Nodes of one vCenter that go from one manager to another and back by leader migration: what becomes of them at each hand-over, and who wrote
 * them when, by the API server's own record.
 */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { resources, systemClock, type Client, type Node } from '@outrigger/kube';
import {
  clientOf,
  controlPlaneOrSkip,
  ProcessGroup,
  type AuditEntry,
  type AuditMark,
  type ControlPlane,
  type ControlPlaneOptions,
  type Program,
} from '@outrigger/testing';
import { startLabOrSkip, type LabMachine, type LabVcenter } from '../../providers/vsphere/lab/lab.ts';
import { ELECTION, MIGRATION, migrationConfig, toFlags } from '../hand-over.ts';
import { isInitialised } from '../initialised-node.ts';
import { auditLeadership } from '../leadership-audit.ts';
import { Manager } from '../manager.ts';
import { nodeByName, setReady } from '../node-by-name.ts';
import { waitUntil } from '../wait-until.ts';
import { lookOf, newKeys, type NodeLook } from './node-look.ts';
import { SHUTDOWN_TAINT, tagZones } from './vsphere-cluster.ts';

/** Of each of two clusters. */
const MACHINES = 40;
/** Nodes that are right all the time. */
const KEPT = 20;
/** Of those, as many whose kubelets are silent, though their machines run: whoever manages asks for them again and again. */
const SILENT = 4;
/** Between two looks of a manager at addresses. */
export const REFRESH_MS = 1_000;
/** Fewer than any of them needs to list a few nodes and to ask for those that are silent. */
const LEAST_CALLS = 8;
/** One node goes in each. */
const HAND_OVERS = 4;
const PATIENCE_MS = 300_000;
/** Where the program keeps which machine a node is. */
const REFERENCE = 'vsphere.outrigger.dev/machine';
const WRITES = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
export const CONTROLLERS: readonly string[] = ['cloud-node-controller', 'cloud-node-lifecycle-controller'];
const OUTRIGGER = 'outrigger';

/** A manager, as the API server knows it. */
export interface Contender {
  readonly user: string;
  readonly start: () => Promise<void> | void;
  readonly end: (signal: 'SIGTERM' | 'SIGKILL') => Promise<unknown>;
  /** Whether it does its work where the machine of any node was gone before it took over. */
  readonly bearsGoneMachines: boolean;
  /** How a kubelet registers a node while this one manages. */
  readonly register: (machine: LabMachine) => Node;
}

/** What the next manager may write to a node that is right: nothing; or, where it finds them first, what is missing. */
export interface Expected {
  /** Which machine the node is, in an annotation. Default: it is there already. */
  readonly reference?: boolean;
  /** Labels that it adds. Default: none. */
  readonly labels?: readonly string[];
}

export interface MigratingClusterOptions {
  readonly controlPlane?: ControlPlaneOptions;
  /** `[VirtualCenter …]` and all else, which both read. */
  readonly config: (vcenter: LabVcenter) => string;
}

export class MigratingCluster {
  readonly controlPlane: ControlPlane;
  readonly vcenter: LabVcenter;
  readonly client: Client;
  /** Flags that both managers take. */
  readonly flags: readonly string[];
  readonly #logs: string[] = [];
  readonly #group: ProcessGroup;
  readonly #machines: readonly LabMachine[];
  readonly #dead = new Set<string>();
  readonly #users = new Set<string>();
  /** Nodes that the next hand-over takes away. */
  readonly #left: string[] = [];
  #mortal: LabMachine[] = [];
  #used = 0;
  #handOvers = 0;

  private constructor(parts: {
    controlPlane: ControlPlane;
    vcenter: LabVcenter;
    client: Client;
    flags: readonly string[];
    group: ProcessGroup;
    machines: readonly LabMachine[];
  }) {
    ({ controlPlane: this.controlPlane, vcenter: this.vcenter, client: this.client, flags: this.flags } = parts);
    this.#group = parts.group;
    this.#machines = parts.machines;
  }

  /** `undefined` where the control plane or the simulator cannot be had; the test is skipped then. No manager runs yet. */
  static async start(t: TestContext, options: MigratingClusterOptions): Promise<MigratingCluster | undefined> {
    const [vcenter] = (await startLabOrSkip(t, [{ clusters: 2, machines: MACHINES }])) ?? [];
    if (!vcenter) return undefined;
    const controlPlane = await controlPlaneOrSkip(t, options.controlPlane);
    if (!controlPlane) return undefined;
    await tagZones(vcenter);
    const { directory, kubeconfig } = controlPlane;
    const client = await clientOf(kubeconfig.path);
    const group = new ProcessGroup();
    t.after(async () => {
      await group[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    });
    const cloudConfig = join(directory, 'vsphere.conf');
    await writeFile(cloudConfig, options.config(vcenter));
    const migration = join(directory, 'migration.yaml');
    await writeFile(migration, migrationConfig(...CONTROLLERS));
    const flags = [
      ...toFlags(ELECTION),
      '--cloud-provider=vsphere',
      `--cloud-config=${cloudConfig}`,
      '--enable-leader-migration',
      `--leader-migration-config=${migration}`,
    ];
    return new MigratingCluster({ controlPlane, vcenter, client, flags, group, machines: await vcenter.machines() });
  }

  async #kubeconfigOf(user: string): Promise<string> {
    this.#users.add(user);
    return (await this.controlPlane.kubeconfigFor({ user, groups: ['system:masters'] })).path;
  }

  /** The program, with a main lock of its own: nothing is common to both but the lock of the migration. */
  async outrigger(t: TestContext, register: Contender['register']): Promise<Contender> {
    const log = join(this.controlPlane.directory, `${OUTRIGGER}.log`);
    this.#logs.push(log);
    const manager = new Manager(
      [
        ...this.flags,
        `--kubeconfig=${await this.#kubeconfigOf(OUTRIGGER)}`,
        '--secure-port=0',
        '--leader-elect-resource-name=outrigger-cloud-controller-manager',
        `--controllers=${CONTROLLERS.join(',')}`,
        `--node-status-update-frequency=${REFRESH_MS}ms`,
        '--node-deletion-grace-period=1s',
        '--v=4',
      ],
      log,
    );
    t.after(() => manager[Symbol.asyncDispose]());
    return {
      user: OUTRIGGER,
      bearsGoneMachines: true,
      register,
      start: () => manager.start(),
      end: async (signal) => assert.equal(await manager.end(signal), signal === 'SIGTERM' ? 0 : null),
    };
  }

  /** A program of others. */
  async other(
    { user, ...said }: Pick<Contender, 'user' | 'register' | 'bearsGoneMachines'>,
    command: string,
    flags: readonly string[],
  ): Promise<Contender> {
    const log = join(this.controlPlane.directory, `${user}.log`);
    this.#logs.push(log);
    const args = [...this.flags, `--kubeconfig=${await this.#kubeconfigOf(user)}`, ...flags];
    let program: Program | undefined;
    return {
      user,
      ...said,
      start: async () => {
        program = await this.#group.start({ name: user, command, args, log });
      },
      end: async (signal) => {
        assert.equal(program?.exit, undefined, `${user} has ended by itself`);
        program?.signal(signal);
        return program?.exited();
      },
    };
  }

  /** The nodes that must stay as they are; some of their kubelets fall silent. */
  async registerKept(by: Contender): Promise<readonly LabMachine[]> {
    const kept = await this.#register(by, KEPT);
    this.#mortal = [...(await this.#register(by, HAND_OVERS))];
    await this.setReady([...kept, ...this.#mortal], 'True');
    await this.setReady(kept.slice(0, SILENT), 'Unknown');
    return kept;
  }

  async #register(by: Contender, count: number): Promise<readonly LabMachine[]> {
    const some = this.#machines.slice(this.#used, (this.#used += count));
    assert.equal(some.length, count, 'more machines are needed');
    await Promise.all(some.map((machine) => this.client.of(resources.nodes).create(by.register(machine))));
    return some;
  }

  node(name: string): Promise<Node | undefined> {
    return nodeByName(this.client, name);
  }

  async setReady(machines: readonly LabMachine[], status: 'True' | 'Unknown'): Promise<void> {
    await Promise.all(machines.map(({ name }) => setReady(this.client, name, status)));
  }

  until(what: string, holds: () => boolean | Promise<boolean>): Promise<number> {
    return waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: 200, logs: this.#logs });
  }

  /** Waits until it works: a node that is new is initialised, one whose machine is stopped has the taint. */
  async works(by: Contender): Promise<void> {
    const [fresh, stopped] = await this.#register(by, 2);
    assert.ok(fresh && stopped);
    await this.setReady([fresh, stopped], 'True');
    await this.until(`${by.user} has initialised ${fresh.name}`, async () => {
      const nodes = await Promise.all([fresh, stopped].map(({ name }) => this.node(name)));
      return nodes.every((node) => node !== undefined && isWhole(node));
    });
    await this.vcenter.power(stopped.reference, 'poweredOff');
    await this.setReady([stopped], 'Unknown');
    await this.until(`${by.user} has tainted ${stopped.name}`, async () => {
      const taints = (await this.node(stopped.name))?.spec?.taints ?? [];
      return taints.some(({ key }) => key === SHUTDOWN_TAINT);
    });
  }

  /** Waits until it has asked the vCenter since it took over, and has had the time to write what it would. */
  async #hasLooked(by: Contender): Promise<void> {
    await this.until(`${by.user} asks the vCenter`, async () => (await this.vcenter.calls()).length >= LEAST_CALLS);
    await systemClock.sleep(3 * REFRESH_MS);
  }

  /**
   * The manager that works ends, and the one that waits takes over. One machine is destroyed just before that, and one while nobody works (just after it, where
   * the next one would not bear that). What is right is written no more than is expected. Resolves with how long it took until the new one worked, in milliseconds.
   */
  async handOver(
    from: Contender,
    to: Contender,
    signal: 'SIGTERM' | 'SIGKILL',
    expected: Expected = {},
  ): Promise<number> {
    this.#handOvers++;
    const { auditLog } = this.controlPlane;
    const [early] = await this.#register(from, 1);
    const late = this.#mortal.shift();
    assert.ok(early && late);
    await this.until(`${early.name} is initialised`, async () => isWhole((await this.node(early.name)) ?? {}));
    await this.#stand(to);
    await this.#destroy(early);
    await this.#isGone(early.name);
    const before = await this.looks();
    assert.equal(before.size, KEPT, 'all nodes that stay are right');
    const mark = await auditLog.mark();

    const endedAt = systemClock.monotonic();
    await from.end(signal);
    await this.vcenter.calls(true);
    if (to.bearsGoneMachines) await this.#destroy(late);
    await this.works(to);
    const tookMs = systemClock.monotonic() - endedAt;
    if (!to.bearsGoneMachines) await this.#destroy(late);
    if (expected.reference === true) {
      // Never seen by the program while it was there: that it is gone cannot be proved, and the next one deletes it.
      await this.#isKept(late.name);
      this.#left.push(late.name);
    } else {
      for (const name of [late.name, ...this.#left.splice(0)]) await this.#isGone(name);
    }
    await this.#hasLooked(to);

    const after = await this.looks();
    const writes = await this.#writesSince(mark, [...before.keys()]);
    const hasToWrite = expected.reference === true || (expected.labels ?? []).length > 0;
    for (const [name, look] of before) {
      const now = after.get(name) ?? assert.fail(`node ${name} is gone`);
      const its = writes.filter(({ objectRef }) => objectRef?.name === name);
      const told = its.map(({ objectRef, verb }) => `${verb} ${objectRef?.subresource ?? 'node'}`);
      assert.deepEqual(told, hasToWrite ? ['patch node'] : [], `${to.user} has written node ${name}, which was right`);
      const { annotations, labels, resourceVersion, ...rest } = now;
      const { annotations: oldAnnotations, labels: oldLabels, resourceVersion: oldVersion, ...oldRest } = look;
      assert.deepEqual(rest, oldRest, name);
      assert.deepEqual(newKeys(oldLabels, labels), expected.labels ?? [], name);
      assert.deepEqual(newKeys(oldAnnotations, annotations), expected.reference === true ? [REFERENCE] : [], name);
      if (!hasToWrite) assert.equal(resourceVersion, oldVersion, name);
    }
    return tookMs;
  }

  /** With its kubelet. */
  async #destroy(machine: LabMachine): Promise<void> {
    this.#dead.add(machine.name);
    await this.vcenter.destroy(machine.reference);
    await this.setReady([machine], 'Unknown');
  }

  async #isGone(name: string): Promise<void> {
    await this.until(`node ${name} is gone`, async () => (await this.node(name)) === undefined);
  }

  /** A person is told. */
  async #isKept(name: string): Promise<void> {
    await this.until(`an Event says that node ${name} is kept`, async () => {
      const { items } = await this.client.of(resources.events).list({ namespace: 'default' });
      return items.some(
        ({ note = '' }) => note.includes(`node ${name}: `) && note.includes('where it was is not known'),
      );
    });
    assert.ok(await this.node(name), `node ${name} is gone`);
  }

  /** What an Event asks a person for. */
  async deleteKept(): Promise<void> {
    for (const name of this.#left.splice(0)) {
      this.#dead.delete(name);
      await this.client.of(resources.nodes).delete({ name });
    }
  }

  /** Starts it, and waits until it seeks the lock of the migration. */
  async #stand(one: Contender): Promise<void> {
    const { auditLog } = this.controlPlane;
    const begin = await auditLog.mark();
    await one.start();
    await this.until(`${one.user} seeks the lock`, async () => {
      const asked = await auditLog.count(
        ({ objectRef, user }) => (user.username === one.user && objectRef?.name === MIGRATION ? 'asked' : undefined),
        begin,
      );
      return asked['asked'] !== undefined;
    });
  }

  async #writesSince(mark: AuditMark, names: readonly string[]): Promise<readonly AuditEntry[]> {
    const entries: AuditEntry[] = [];
    await this.controlPlane.auditLog.count((entry) => {
      const { objectRef, user, verb } = entry;
      if (objectRef?.resource !== 'nodes' || !WRITES.has(verb) || !this.#users.has(user.username)) return undefined;
      if (names.includes(objectRef.name ?? '')) entries.push(entry);
      return undefined;
    }, mark);
    return entries;
  }

  /** Of the nodes that are right, by name. */
  async looks(): Promise<ReadonlyMap<string, NodeLook>> {
    const looks = new Map<string, NodeLook>();
    for (const { name } of this.#machines.slice(0, KEPT)) {
      const node = await this.node(name);
      if (node && isWhole(node)) looks.set(name, lookOf(node));
    }
    return looks;
  }

  /** Holds the API server's record of all of it to what must be. */
  async check(t: TestContext): Promise<void> {
    const entries = await this.controlPlane.auditLog.requests(
      ({ objectRef, user }) =>
        this.#users.has(user.username) &&
        (objectRef?.resource === 'nodes' || (objectRef?.resource === 'leases' && objectRef.name === MIGRATION)),
    );
    const { deletions, nodeWrites, strays, terms } = auditLeadership(entries);
    t.diagnostic(`${nodeWrites} writes of nodes in ${terms} terms`);
    assert.deepEqual(strays, [], 'written by one while the other had the lock');
    assert.equal(terms, this.#handOvers + 1);
    const deleted = deletions.map((uri) => /\/nodes\/([^?]*)/u.exec(uri)?.[1] ?? uri);
    assert.deepEqual(
      deleted.toSorted(),
      [...this.#dead].toSorted(),
      'each node whose machine is gone goes once, and no other',
    );
  }
}

/** Somebody has made it what it is: the manager, or the kubelet of a cluster with a provider of its own. */
function isWhole(node: Node): boolean {
  return node.spec?.providerID !== undefined && isInitialised(node);
}
