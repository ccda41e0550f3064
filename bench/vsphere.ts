/**
 * `make bench SCENARIO=vsphere`: Outrigger beside the official provider of vSphere on the same simulator of vCenter and a real control plane, in
 * turn: how long and by how many requests nodes are initialised, and how many nodes each deletes whose machines are there. Fails when
 * Outrigger deletes one, asks for more than its aim, or does not come to the end.
 *
 *     node bench/vsphere.ts [--parts=initialise,faults] [--nodes=180,1000] [--json=FILE]
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { resources, type Client } from '@outrigger/kube';
import { freePort, hollowNode, startControlPlane, UNINITIALIZED_TAINT, type ControlPlane } from '@outrigger/testing';
import { buildOfficial } from '../providers/vsphere/lab/build.ts';
import { LabVcenter, type LabMachine } from '../providers/vsphere/lab/lab.ts';
import { hasTaint, listNodes, setNotReady } from './cluster-nodes.ts';
import { connect } from './connect.ts';
import { inParallel } from './fleet.ts';
import { runSubject, Unfinished } from './run-subject.ts';
import { secondsUntil, sleep } from './scenario.ts';
import { outrigger as memoryOutrigger, type Subject, type Surroundings } from './subjects.ts';

/** Of each node, at initialisation; the aim, for a vCenter of some size. */
const AIM_CALLS_A_NODE = 0.05;
/** Requests that do not grow with the nodes: log in, views, one list and the wait for news. */
const BASE_CALLS = 12;
const LIMIT_SECONDS = 240;
const FAULT_MS = 15_000;
const MOST_STARTS = 5;
/** Of each fault. */
const AFFECTED = 8;

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'initialise,faults' },
    nodes: { type: 'string', default: '180,1000' },
    json: { type: 'string' },
  },
});

interface Row {
  readonly subject: string;
  readonly what: string;
  readonly value: number;
  readonly unit?: string;
}

const rows: Row[] = [];
function record(subject: Subject, what: string, value: number, unit?: string): void {
  rows.push({ subject: subject.name, what, value, ...(unit !== undefined && { unit }) });
  console.log(`  ${subject.name}: ${what}: ${Number(value.toFixed(2))}${unit ?? ''}`);
}

const UNFINISHED = 'did not come to its end';

/** Throws every other error. */
function recordUnfinished(subject: Subject, what: string, error: unknown): void {
  if (!(error instanceof Unfinished)) throw error;
  console.log(`  ${error.message}`);
  record(subject, `${what}: ${UNFINISHED}`, 1);
}

const official = await buildOfficial();
execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });

function flagsOf({ cloudConfig, kubeconfig, port }: Surroundings): readonly string[] {
  return [
    '--cloud-provider=vsphere',
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
  ];
}

const subjects: readonly Subject[] = [
  {
    ...memoryOutrigger,
    command: (given) => {
      const [program] = memoryOutrigger.command(given);
      // Otherwise no node goes within the time that a fault lasts here.
      const hasty = ['--node-deletion-grace-period=1s', '--node-deletion-max-fraction=1'];
      return [program, ...flagsOf(given), ...hasty];
    },
  },
  {
    name: 'official',
    mostNodes: Number.POSITIVE_INFINITY,
    usesCloud: true,
    // As fast as it can: with its default flags the API server is asked 20 times a second.
    command: (given) => [
      official,
      ...flagsOf(given),
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
      '--concurrent-node-syncs=50',
    ],
  },
];

async function register(client: Client, machines: readonly LabMachine[]): Promise<void> {
  const now = Date.now();
  await inParallel(machines, async ({ biosUuid, name }) => {
    await client.of(resources.nodes).create(hollowNode({ name, images: 1, now, systemUUID: biosUuid }));
  });
}

async function countInitialised(client: Client): Promise<number> {
  return (await listNodes(client)).filter((node) => !hasTaint(node, UNINITIALIZED_TAINT)).length;
}

class Bench {
  readonly #controlPlane: ControlPlane;
  readonly #client: Client;

  constructor(controlPlane: ControlPlane, client: Client) {
    this.#controlPlane = controlPlane;
    this.#client = client;
  }

  async #surroundings(vcenters: readonly LabVcenter[]): Promise<Surroundings> {
    const cloudConfig = join(this.#controlPlane.directory, 'vsphere.conf');
    writeFileSync(cloudConfig, LabVcenter.config(vcenters));
    const kubeconfig = this.#controlPlane.kubeconfig.path;
    const port = await freePort();
    return { controlPlane: this.#controlPlane, certificateAuthorityFile: '', cloudConfig, kubeconfig, port };
  }

  async initialise(subject: Subject, count: number): Promise<void> {
    await using vcenter = await LabVcenter.start({ machines: count });
    const machines = await vcenter.machines();
    await this.#client.of(resources.nodes).deleteCollection();
    await register(this.#client, machines);
    const surroundings = await this.#surroundings([vcenter]);
    try {
      await runSubject(subject, surroundings, LIMIT_SECONDS, async ({ signal }) => {
        const done = async (): Promise<boolean> => (await countInitialised(this.#client)) === count;
        const seconds = await secondsUntil(done, signal, 200);
        const calls = await vcenter.calls(true);
        record(subject, `${count} nodes: all initialised after`, seconds, 's');
        record(subject, `${count} nodes: requests a node`, calls.length / count);
        record(
          subject,
          `${count} nodes: answers in KiB a node`,
          calls.reduce((sum, { bytes }) => sum + bytes, 0) / 1024 / count,
        );
        await sleep(20_000);
        record(subject, `${count} nodes: requests in the 20 s after`, (await vcenter.calls(true)).length);
        record(subject, `${count} nodes: sessions open`, (await vcenter.sessions()).soap);
      });
    } catch (error) {
      recordUnfinished(subject, `${count} nodes`, error);
      record(subject, `${count} nodes: initialised in ${LIMIT_SECONDS} s`, await countInitialised(this.#client));
      record(subject, `${count} nodes: requests until then a node`, (await vcenter.calls()).length / count);
    }
  }

  /** As a Pod, which is started again when its program ends. */
  async #initialiseAll(subject: Subject, surroundings: Surroundings, count: number): Promise<void> {
    const done = async (): Promise<boolean> => (await countInitialised(this.#client)) === count;
    for (let starts = 0; starts < MOST_STARTS && !(await done()); starts++) {
      await runSubject(subject, surroundings, LIMIT_SECONDS, async ({ signal }) => {
        await secondsUntil(done, signal, 200);
      }).catch((error: unknown) => recordUnfinished(subject, `${count} nodes of two vCenters`, error));
    }
  }

  /** Each fault meets machines of its own, whose kubelets are silent, and a program that was started anew: nothing is in its memory. */
  async faults(subject: Subject): Promise<void> {
    await using a = await LabVcenter.start({ name: 'a', machines: 90 });
    await using b = await LabVcenter.start({ name: 'b', machines: 90 });
    const machines = [...(await a.machines()), ...(await b.machines())];
    await this.#client.of(resources.nodes).deleteCollection();
    await register(this.#client, machines);
    const surroundings = await this.#surroundings([a, b]);
    await this.#initialiseAll(subject, surroundings, machines.length);
    const of = await a.machines();
    const each = (some: readonly LabMachine[], act: (machine: LabMachine) => Promise<void>): Promise<unknown> =>
      Promise.all(some.map((machine) => act(machine)));
    const faults: readonly {
      readonly name: string;
      readonly begin: (some: readonly LabMachine[]) => Promise<unknown>;
      readonly end: (some: readonly LabMachine[]) => Promise<unknown>;
    }[] = [
      ...(['inaccessible', 'orphaned', 'disconnected'] as const).map((state) => ({
        name: `machines are ${state}`,
        begin: (some: readonly LabMachine[]) => each(some, ({ reference }) => a.setConnection(reference, state)),
        end: (some: readonly LabMachine[]) => each(some, ({ reference }) => a.setConnection(reference, 'connected')),
      })),
      {
        name: 'the account may not see them',
        begin: (some) => a.hide(some.map(({ reference }) => reference)),
        end: () => a.hide([]),
      },
      { name: 'their vCenter is down', begin: () => a.setDown(true), end: () => a.setDown(false) },
      {
        name: 'sessions end all the time',
        begin: () =>
          a.setRules([
            { method: 'FindAllByUuid', killSessions: true },
            { method: 'FindByUuid', killSessions: true },
            { method: 'ContinueRetrievePropertiesEx', killSessions: true },
          ]),
        end: () => a.setRules([]),
      },
    ];
    for (const [at, { begin, end, name }] of faults.entries()) {
      const some = of.slice(at * AFFECTED, (at + 1) * AFFECTED);
      await begin(some);
      await setNotReady(
        this.#client,
        some.map((machine) => machine.name),
      );
      const given = { ...surroundings, port: await freePort() };
      await runSubject(subject, given, LIMIT_SECONDS, async ({ signal }) => {
        await sleep(FAULT_MS);
        // Who has ended by then deletes nothing.
        signal.throwIfAborted();
      }).catch((error: unknown) => recordUnfinished(subject, name, error));
      const there = new Set((await listNodes(this.#client)).map(({ metadata }) => metadata?.name));
      record(
        subject,
        `${name}: of ${AFFECTED} live nodes deleted`,
        some.filter((machine) => !there.has(machine.name)).length,
      );
      await end(some);
    }
  }
}

{
  await using controlPlane = await startControlPlane({ auditLog: false });
  await using connection = await connect(controlPlane.kubeconfig.path);
  console.log(`Kubernetes ${controlPlane.kubernetes}, ${cpus().length} processors, everything on one machine\n`);
  const bench = new Bench(controlPlane, connection.client);
  const parts = values.parts.split(',');
  if (parts.includes('initialise')) {
    for (const count of values.nodes.split(',').map(Number)) {
      for (const subject of subjects) await bench.initialise(subject, count);
    }
  }
  if (parts.includes('faults')) for (const subject of subjects) await bench.faults(subject);
}
if (values.json) writeFileSync(values.json, JSON.stringify(rows, undefined, 2));
const missed = rows.filter(({ subject, value, what }) => {
  if (subject !== memoryOutrigger.name) return false;
  const [, count] = /^(?<count>\d+) nodes: requests a node$/u.exec(what) ?? [];
  return what.includes('deleted') || what.includes(UNFINISHED)
    ? value > 0
    : count !== undefined && value > AIM_CALLS_A_NODE + BASE_CALLS / Number(count);
});
for (const { value, what } of missed) console.log(`missed: ${what}: ${value}`);
process.exitCode = missed.length === 0 ? 0 : 1;
