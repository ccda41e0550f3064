/** A real control plane, the program with the vSphere provider, and nodes whose machines are in two simulated vCenters. */
import assert from 'node:assert/strict';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  createTransport,
  isNotFound,
  resources,
  systemClock,
  type Client,
  type Node,
  type Transport,
} from '@outrigger/kube';
import { clientOf, controlPlaneOrSkip, freePort, hollowNode, type ControlPlane } from '@outrigger/testing';
import {
  startLabOrSkip,
  type LabCall,
  type LabMachine,
  type LabObject,
  type LabOptions,
  type LabVcenter,
} from '../../providers/vsphere/lab/lab.ts';
import { isInitialised } from '../initialised-node.ts';
import { Manager } from '../manager.ts';
import { nodeByName, setReady } from '../node-by-name.ts';
import { waitUntil } from '../wait-until.ts';

const LIMIT_MS = 300_000;
const POLL_MS = 100;
export const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';

/** A machine, and where it is. */
export interface PlacedMachine extends LabMachine {
  readonly vcenter: LabVcenter;
}

export interface VsphereClusterOptions {
  readonly vcenters: readonly LabOptions[];
  readonly flags?: readonly string[];
}

export class VsphereCluster {
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  readonly vcenters: readonly LabVcenter[];
  readonly manager: Manager;
  readonly log: string;
  readonly #secrets: string;
  readonly #serving: Transport;
  /** What it was seen to ask any vCenter for by {@link callsOf}. */
  readonly methods: Set<string> = new Set();
  /** By name: the UID of a node whose machine is there, and which must never be deleted. */
  readonly alive: Map<string, string> = new Map();

  private constructor(parts: {
    controlPlane: ControlPlane;
    client: Client;
    vcenters: readonly LabVcenter[];
    manager: Manager;
    secrets: string;
    serving: Transport;
  }) {
    ({ client: this.client, controlPlane: this.controlPlane, manager: this.manager, vcenters: this.vcenters } = parts);
    this.log = join(parts.controlPlane.directory, 'manager.log');
    this.#secrets = parts.secrets;
    this.#serving = parts.serving;
  }

  /** `undefined` where the control plane or the simulator cannot be had; the test is skipped then. The program does not run yet. */
  static async start(t: TestContext, options: VsphereClusterOptions): Promise<VsphereCluster | undefined> {
    const vcenters = await startLabOrSkip(t, options.vcenters);
    if (!vcenters) return undefined;
    const controlPlane = await controlPlaneOrSkip(t);
    if (!controlPlane) return undefined;
    const { directory } = controlPlane;
    const client = await clientOf(controlPlane.kubeconfig.path);
    const secrets = join(directory, 'secrets');
    await mkdir(secrets);
    const config = join(directory, 'vsphere.conf');
    await writeFile(config, await configOf(vcenters, directory, secrets));
    const port = await freePort();
    const manager = new Manager(
      [
        '--cloud-provider=vsphere',
        `--cloud-config=${config}`,
        `--kubeconfig=${controlPlane.kubeconfig.path}`,
        '--bind-address=127.0.0.1',
        `--secure-port=${port}`,
        '--leader-elect=false',
        '--node-deletion-grace-period=1s',
        // Most nodes of a part may go; the breaker is shown elsewhere.
        '--node-deletion-max-fraction=1',
        // What differs from the cloud is told soon.
        '--node-status-update-frequency=20s',
        '--v=4',
        ...(options.flags ?? []),
      ],
      join(directory, 'manager.log'),
    );
    t.after(async () => {
      await manager[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
    });
    const serving = createTransport({ server: `https://127.0.0.1:${port}`, tls: { insecureSkipVerify: true } });
    t.after(() => serving[Symbol.asyncDispose]());
    const cluster = new VsphereCluster({ controlPlane, client, vcenters, manager, secrets, serving });
    await cluster.writeCredentials('user', 'pass');
    return cluster;
  }

  /** As a Secret is mounted: each file is another one afterwards. */
  async writeCredentials(user: string, password: string): Promise<void> {
    for (const [suffix, text] of [
      ['username', user],
      ['password', password],
    ] as const) {
      const path = join(this.#secrets, `127.0.0.1.${suffix}`);
      await writeFile(`${path}.new`, text, { mode: 0o600 });
      await rename(`${path}.new`, path);
    }
  }

  /** All machines of all vCenters. */
  async machines(): Promise<readonly PlacedMachine[]> {
    const all = this.vcenters.map(async (vcenter) =>
      (await vcenter.machines()).map((machine): PlacedMachine => ({ ...machine, vcenter })),
    );
    return (await Promise.all(all)).flat();
  }

  async machine(name: string): Promise<PlacedMachine> {
    return (await this.machines()).find((machine) => machine.name === name) ?? assert.fail(`no machine ${name}`);
  }

  /** The kubelets of these machines register. */
  async register(machines: readonly LabMachine[]): Promise<void> {
    await Promise.all(
      machines.map(async (machine) => {
        const node = await this.client.of(resources.nodes).create(externalNode(machine));
        this.alive.set(machine.name, node.metadata?.uid ?? '');
      }),
    );
  }

  async nodes(): Promise<readonly Node[]> {
    return (await this.client.of(resources.nodes).list()).items;
  }

  node(name: string): Promise<Node | undefined> {
    return nodeByName(this.client, name);
  }

  async initialised(): Promise<number> {
    return (await this.nodes()).filter(isInitialised).length;
  }

  /** But for those that are gone. */
  async setReady(names: readonly string[], status: 'True' | 'Unknown'): Promise<void> {
    await Promise.all(
      names.map(async (name) => {
        try {
          await setReady(this.client, name, status);
        } catch (error) {
          if (!isNotFound(error)) throw error;
        }
      }),
    );
  }

  /** Nodes whose machines are there and which are not, or are others than they were. */
  async wronglyDeleted(): Promise<readonly string[]> {
    const there = new Map((await this.nodes()).map(({ metadata }) => [metadata?.name ?? '', metadata?.uid]));
    return [...this.alive].filter(([name, uid]) => there.get(name) !== uid).map(([name]) => name);
  }

  /** What the program has asked this vCenter for since it was asked so last. */
  async callsOf(vcenter: LabVcenter): Promise<readonly LabCall[]> {
    const calls = await vcenter.calls(true);
    for (const { method } of calls) this.methods.add(method.replace(/\/id:[^/?]*/u, '/id:{id}'));
    return calls;
  }

  /** Lines of the program's metrics that begin so. */
  async metrics(start: string): Promise<readonly string[]> {
    const { body } = await this.#serving.send({ method: 'GET', path: '/metrics' });
    const text = Buffer.concat(await Array.fromAsync(body)).toString();
    return text.split('\n').filter((line) => line.startsWith(start));
  }

  /** What Warning Events of this reason say of a node. */
  async warnings(node: string, reason: string): Promise<readonly string[]> {
    const { items } = await this.client.of(resources.events).list({ namespace: 'default' });
    return items.filter((one) => one.regarding?.name === node && one.reason === reason).map(({ note = '' }) => note);
  }

  /** Rejects at once where the program has ended by itself. Resolves with the milliseconds. */
  async until(what: string, holds: () => Promise<boolean>, limitMs: number = LIMIT_MS): Promise<number> {
    const mayCome = (): boolean => this.manager.running;
    return waitUntil(what, holds, { patienceMs: limitMs, pollMs: POLL_MS, logs: [this.log], mayCome });
  }

  async gone(...names: readonly string[]): Promise<number> {
    for (const name of names) this.alive.delete(name);
    return this.until(`nodes ${names.join(', ')} are gone`, async () => {
      const there = await Promise.all(names.map((name) => this.node(name)));
      return there.every((node) => node === undefined);
    });
  }
}

/** How a kubelet with `--cloud-provider=external` registers its node. */
export function externalNode({ biosUuid, name }: LabMachine): Node {
  return hollowNode({ name, images: 1, now: systemClock.now(), systemUUID: biosUuid });
}

/** A region for each datacenter, a zone for each cluster. */
export async function tagZones(vcenter: LabVcenter): Promise<void> {
  for (const object of await vcenter.objects()) {
    if (object.type === 'Datacenter') await vcenter.tag(object, 'k8s-region', `region-${vcenter.name}`);
    if (object.type === 'ClusterComputeResource') await vcenter.tag(object, 'k8s-zone', zoneTag(vcenter, object.name));
  }
}

/** Where {@link tagZones} says that a machine is. */
export async function labZoneOf(
  vcenter: LabVcenter,
): Promise<(machine: LabMachine) => { readonly zone: string; readonly region: string }> {
  const objects = await vcenter.objects();
  const of = (reference: string | undefined): LabObject | undefined =>
    objects.find((one) => one.reference === reference);
  return ({ host }) => ({ zone: zoneTag(vcenter, of(of(host)?.parent)?.name ?? ''), region: `region-${vcenter.name}` });
}

function zoneTag(vcenter: LabVcenter, cluster: string): string {
  return `${vcenter.name}-${cluster.toLowerCase().replace('_', '-')}`;
}

/** One vCenter is known by its authority, the others by their thumbprints. */
async function configOf(vcenters: readonly LabVcenter[], directory: string, secrets: string): Promise<string> {
  const authority = join(directory, 'vcenter.pem');
  const sections = vcenters.map(({ name, port, sha256 }, index) => {
    const trust = index === 0 ? `ca-file = "${authority}"` : `thumbprint = "${sha256}"`;
    return `[VirtualCenter "${name}"]\nserver = "127.0.0.1"\nport = "${port}"\n${trust}\n`;
  });
  await writeFile(authority, vcenters[0]?.certificate ?? '');
  return `[Global]\nsecrets-directory = "${secrets}"\n\n${sections.join('\n')}\n[Labels]\nzone = "k8s-zone"\nregion = "k8s-region"\n`;
}
