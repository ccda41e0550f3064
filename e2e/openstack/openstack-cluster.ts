/** A real control plane, the program with the OpenStack provider, and kubelets that are not real on servers that are. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { resources, type Client, type Node } from '@outrigger/kube';
import { labCloudConfig } from './lab-cloud.ts';
import {
  clientOf,
  controlPlaneOrSkip,
  startHollowNodes,
  type ControlPlane,
  type HollowNodes,
} from '@outrigger/testing';
import { Manager } from '../manager.ts';
import { nodeByName } from '../node-by-name.ts';
import { waitUntil } from '../wait-until.ts';
import { idOf, LabMachines, type Server } from './lab-machines.ts';
import { openLab, type Lab } from './lab.ts';

/** For a machine that has other things to do, and a load balancer that is made in a queue of eight. */
const PATIENCE_MS = 900_000;
/** Each look at what Octavia has is a dozen requests, which the program waits behind. */
const POLL_MS = 1_000;
const CLUSTER_NAME = 'lab';

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface OpenStackClusterOptions {
  /** More flags of the program. */
  readonly flags?: readonly string[];
  /** Sections of the cloud config beside `[Global]`. Default: load balancers with floating IPs of `outside`. */
  readonly config?: (ids: LabIds) => string;
  readonly password?: string;
}

/** What a cloud config names by ID. */
export interface LabIds {
  readonly outside: string;
  readonly nodes: string;
  readonly subnet: string;
  readonly subnet6: string;
  readonly router: string;
}

async function idsOf({ user }: Lab): Promise<LabIds> {
  const [networks, subnets, routers] = await Promise.all([
    user.list<Named>('network', '/networks'),
    user.list<Named>('network', '/subnets'),
    user.list<Named>('network', '/routers'),
  ]);
  return {
    outside: idOf(networks, 'outside'),
    nodes: idOf(networks, 'nodes'),
    subnet: idOf(subnets, 'nodes-v4'),
    subnet6: idOf(subnets, 'nodes-v6'),
    router: idOf(routers, 'nodes'),
  };
}

function defaultConfig({ outside, subnet }: LabIds): string {
  return `[LoadBalancer]\nfloating-network-id=${outside}\nsubnet-id=${subnet}\n`;
}

export class OpenStackCluster implements AsyncDisposable {
  readonly lab: Lab;
  readonly ids: LabIds;
  readonly controlPlane: ControlPlane;
  readonly client: Client;
  readonly machines: LabMachines;
  readonly manager: Manager;
  /** The file with all that the program has said. */
  readonly log: string;
  readonly #cloudConfig: string;
  readonly #kubelets: HollowNodes;
  readonly #joining: Server[];
  readonly #owned: AsyncDisposableStack;

  private constructor(
    parts: Pick<OpenStackCluster, 'lab' | 'ids' | 'controlPlane' | 'client' | 'machines' | 'manager' | 'log'>,
    cloudConfig: string,
    kubelets: HollowNodes,
    joining: Server[],
    owned: AsyncDisposableStack,
  ) {
    this.lab = parts.lab;
    this.ids = parts.ids;
    this.controlPlane = parts.controlPlane;
    this.client = parts.client;
    this.machines = parts.machines;
    this.manager = parts.manager;
    this.log = parts.log;
    this.#cloudConfig = cloudConfig;
    this.#kubelets = kubelets;
    this.#joining = joining;
    this.#owned = owned;
  }

  /** `undefined` where there is no control plane; the test is skipped then. The program runs when this resolves. */
  static async start(t: TestContext, options: OpenStackClusterOptions = {}): Promise<OpenStackCluster | undefined> {
    const controlPlane = await controlPlaneOrSkip(t, {
      kubeControllerManager: true,
      // So that a silent kubelet is noticed within the test.
      flags: { 'kube-controller-manager': { 'node-monitor-grace-period': '13s', 'node-monitor-period': '1s' } },
    });
    if (!controlPlane) return undefined;
    const cluster = await OpenStackCluster.open(controlPlane, options);
    t.after(() => cluster[Symbol.asyncDispose]());
    return cluster;
  }

  /** On a control plane that is there. `directory`: for the program's log and cloud config; default: the control plane's. */
  static async open(
    controlPlane: ControlPlane,
    options: OpenStackClusterOptions = {},
    directory: string = controlPlane.directory,
  ): Promise<OpenStackCluster> {
    const lab = await openLab();
    const ids = await idsOf(lab);
    await using opening = new AsyncDisposableStack();
    const cloudConfig = join(directory, 'cloud.conf');
    await writeCloudConfig(cloudConfig, ids, options);
    const client = opening.use(await clientOf(controlPlane.kubeconfig.path));
    const machines = opening.use(new LabMachines(lab.user));
    const log = join(directory, 'manager.log');
    const manager = opening.use(
      new Manager(
        [
          '--cloud-provider=openstack',
          `--cloud-config=${cloudConfig}`,
          `--cluster-name=${CLUSTER_NAME}`,
          `--kubeconfig=${controlPlane.kubeconfig.path}`,
          '--secure-port=0',
          '--leader-elect=false',
          '--node-deletion-grace-period=1s',
          // Most nodes of a test go; the breaker is shown elsewhere.
          '--node-deletion-max-fraction=1',
          '--v=4',
          ...(options.flags ?? []),
        ],
        log,
      ),
    );
    const joining: Server[] = [];
    const kubelets = opening.use(
      await startHollowNodes({
        client,
        count: 0,
        node: () => ({ name: joining.shift()?.name ?? assert.fail('a kubelet without a server'), images: 1 }),
        heartbeats: { leaseMs: 4_000 },
      }),
    );
    manager.start();
    const parts = { lab, ids, controlPlane, client, machines, manager, log };
    return new OpenStackCluster(parts, cloudConfig, kubelets, joining, opening.move());
  }

  /** Another cloud config, for the process that is started next. */
  async configure(options: OpenStackClusterOptions): Promise<void> {
    await writeCloudConfig(this.#cloudConfig, this.ids, options);
  }

  /** Makes servers and lets their kubelets register. */
  async join(...names: readonly string[]): Promise<readonly Server[]> {
    const servers = await Promise.all(
      names.map((name, index) => this.machines.create(name, index % 2 === 0 ? 'az-1' : 'az-2')),
    );
    this.#joining.push(...servers);
    await this.#kubelets.add(servers.length);
    return servers;
  }

  /** The kubelet says nothing more. */
  silence(name: string): void {
    this.#kubelets.stop(name);
  }

  speak(name: string): void {
    this.#kubelets.resume(name);
  }

  /** `undefined` when there is none. */
  node(name: string): Promise<Node | undefined> {
    return nodeByName(this.client, name);
  }

  /** All Events about one object, as `<reason>: <message>`. */
  async eventsAbout(name: string, kind: 'Node' | 'Service', of?: 'Warning'): Promise<readonly string[]> {
    const { items } = await this.client.of(resources.events).list();
    return items
      .filter(({ regarding, type }) => regarding?.name === name && regarding.kind === kind && (!of || type === of))
      .map(({ note, reason }) => `${reason}: ${note}`);
  }

  /** Fails at once when the program has ended by itself, and with the end of its log. */
  async until(what: string, holds: () => Promise<boolean>, patienceMs: number = PATIENCE_MS): Promise<void> {
    const mayCome = (): boolean => this.manager.running;
    await waitUntil(what, holds, { patienceMs, pollMs: POLL_MS, logs: [this.log], mayCome });
  }

  /** The same of what does not need the program, which may not run. */
  async settled(what: string, holds: () => Promise<boolean>): Promise<void> {
    await waitUntil(what, holds, { patienceMs: PATIENCE_MS, pollMs: POLL_MS, logs: [this.log] });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#owned.disposeAsync();
  }
}

async function writeCloudConfig(path: string, ids: LabIds, options: OpenStackClusterOptions): Promise<void> {
  const { config = defaultConfig, password } = options;
  await writeFile(path, labCloudConfig(config(ids), password), { mode: 0o600 });
}
