/** Everything that the controllers of this program do, once each, in a real cluster on the memory cloud. Whoever runs them. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isNotFound, resources, systemClock, type Client, type Node, type Service } from '@outrigger/kube';
import { createMemoryCloud, serveMemoryCloud, type MemoryCloud } from '@outrigger/provider-memory';
import { clientOf, hollowNode, UNINITIALIZED_TAINT, type ControlPlane } from '@outrigger/testing';
import { grant, startGrantedProgram, type GrantedProgram } from './granted-program.ts';
import { askFor, requestsAs } from './serving-requests.ts';
import { waitUntil } from './wait-until.ts';

const SHUTDOWN_TAINT = 'node.cloudprovider.kubernetes.io/shutdown';
/** For a machine that has other things to do. What cannot come any more is not waited for. */
const PATIENCE_MS = 240_000;

/** The flags with which all of the story takes place. */
export const STORY_FLAGS: readonly string[] = [
  '--cloud-provider=memory',
  '--allocate-node-cidrs',
  '--cluster-cidr=10.64.0.0/16',
  '--node-deletion-grace-period=1s',
  // Who ends gives its Lease back: nobody waits for it to expire, and no program that a busy machine stops for a while loses it.
  '--leader-elect-lease-duration=60s',
  '--leader-elect-renew-deadline=45s',
  '--leader-elect-retry-period=1s',
  '--v=4',
];

export class CloudStory implements AsyncDisposable {
  readonly cloud: MemoryCloud;
  /** Where it is served, with its control endpoint. */
  readonly endpoint: string;
  /** Path, for `--cloud-config`. */
  readonly cloudConfig: string;
  readonly client: Client;
  /** Who make the story: nothing is waited for once one of them has ended by itself, and their logs are shown then. */
  readonly programs: GrantedProgram[] = [];
  readonly #controlPlane: ControlPlane;
  readonly #owned: AsyncDisposableStack;

  private constructor(
    controlPlane: ControlPlane,
    cloud: MemoryCloud,
    endpoint: string,
    cloudConfig: string,
    client: Client,
    owned: AsyncDisposableStack,
  ) {
    this.#controlPlane = controlPlane;
    this.cloud = cloud;
    this.endpoint = endpoint;
    this.cloudConfig = cloudConfig;
    this.client = client;
    this.#owned = owned;
  }

  static async open(controlPlane: ControlPlane): Promise<CloudStory> {
    await using opening = new AsyncDisposableStack();
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5 });
    const { endpoint } = opening.use(await serveMemoryCloud(cloud));
    const cloudConfig = join(controlPlane.directory, 'cloud.json');
    await writeFile(cloudConfig, JSON.stringify({ endpoint }));
    const client = opening.use(await clientOf(controlPlane.kubeconfig.path));
    return new CloudStory(controlPlane, cloud, endpoint, cloudConfig, client, opening.move());
  }

  /** Starts the program with these flags and every right that it says it needs with them. It ends with the story, if not before. */
  async run(account: string, flags: readonly string[]): Promise<GrantedProgram> {
    const controlPlane = this.#controlPlane;
    await grant(controlPlane, account, flags);
    const args = [...flags, `--cloud-config=${this.cloudConfig}`];
    const program = await startGrantedProgram({ controlPlane, account, args });
    this.#owned.use(program.manager);
    this.programs.push(program);
    return program;
  }

  /** A kubelet registers, on a machine that there is. */
  async join(name: string): Promise<void> {
    this.cloud.createInstance({ name });
    await this.client.of(resources.nodes).create(hollowNode({ name, images: 1 }));
  }

  /** The node is initialised, has a pod CIDR, and the route to it is made and said to be. */
  async isServed(name: string): Promise<void> {
    await this.until(`node ${name} is initialised, has its pod CIDR and its route`, async () => {
      const { spec, status } = await this.#node(name);
      const network = status?.conditions?.find(({ type }) => type === 'NetworkUnavailable');
      return (
        spec?.providerID === `memory://region-1/${name}` &&
        !hasTaint(spec, UNINITIALIZED_TAINT) &&
        spec.podCIDR?.startsWith('10.64.') === true &&
        network?.status === 'False' &&
        this.cloud.routes().some(({ nodeName }) => nodeName === name)
      );
    });
  }

  async isInitialised(name: string): Promise<void> {
    await this.until(
      `node ${name} is initialised`,
      async () => !hasTaint((await this.#node(name)).spec, UNINITIALIZED_TAINT),
    );
  }

  async setReady(name: string, status: 'True' | 'Unknown'): Promise<void> {
    const ready = { type: 'Ready', status, reason: 'Story', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
    const patch = { type: 'strategic', body: { status: { conditions: [ready] } } } as const;
    await this.client.of(resources.nodes).patch({ name }, patch, { subresource: 'status' });
  }

  /** The machine is shut down, and started again. */
  async shutDownAndStart(name: string): Promise<void> {
    this.cloud.updateInstance(name, { state: 'shutdown' });
    await this.setReady(name, 'Unknown');
    await this.until(`node ${name} has the shutdown taint`, async () =>
      hasTaint((await this.#node(name)).spec, SHUTDOWN_TAINT),
    );
    this.cloud.updateInstance(name, { state: 'running' });
    await this.setReady(name, 'True');
    await this.until(
      `node ${name} has no shutdown taint any more`,
      async () => !hasTaint((await this.#node(name)).spec, SHUTDOWN_TAINT),
    );
  }

  /** The machine goes for good. */
  async takeAway(name: string): Promise<void> {
    this.cloud.deleteInstance(name);
    await this.setReady(name, 'Unknown');
    const nodes = this.client.of(resources.nodes);
    await this.until(`node ${name} is deleted`, () => isGone(nodes.get({ name })));
  }

  /** A Service of type LoadBalancer comes, changes and goes, in a namespace of its own. */
  async serve(name: string): Promise<void> {
    const services = this.client.of(resources.services);
    const ref = { namespace: name, name };
    await this.client.of(resources.namespaces).create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await services.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: ref,
      spec: { type: 'LoadBalancer', ports: [{ port: 80, protocol: 'TCP' }], selector: { app: name } },
    });
    await this.until(`service ${name} has its address`, async () => isBalanced(await services.get(ref)));
    const changed = { type: 'json', operations: [{ op: 'replace', path: '/spec/ports/0/port', value: 8080 }] } as const;
    await services.patch(ref, changed);
    await this.until(`service ${name} is served on its new port`, () =>
      Promise.resolve(this.cloud.parts().some(({ attributes }) => JSON.stringify(attributes).includes('8080'))),
    );
    await services.delete(ref);
    await this.until(`service ${name} is gone`, () => isGone(services.get(ref)));
    assert.deepEqual(this.cloud.parts(), []);
  }

  /** A volume of this cloud that somebody made by hand comes to know its zone. */
  async labelVolume(name: string): Promise<void> {
    this.cloud.createVolume({ id: name, zones: ['zone-a'] });
    const volumes = this.client.of(resources.persistentVolumes);
    await volumes.create({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        flexVolume: { driver: 'outrigger.dev/memory', options: { volumeID: name } },
      },
    });
    await this.until(`volume ${name} has its zone`, async () => {
      const { metadata } = await volumes.get({ name });
      return metadata?.labels?.['topology.kubernetes.io/zone'] === 'zone-a';
    });
  }

  /** A kubelet asks for its serving certificate, and is given it. */
  async certify(name: string): Promise<void> {
    const controlPlane = this.#controlPlane;
    const address = this.cloud.instance(name)?.addresses[0]?.address ?? '';
    const request = `serving-${name}`;
    const kubelet = await requestsAs(controlPlane, this.#owned, { user: `system:node:${name}` });
    await askFor(kubelet, request, { node: name, dns: [name], ips: [address] });
    const requests = this.client.of(resources.certificateSigningRequests);
    await this.until(`the request of ${name} is approved`, async () => {
      const { status } = await requests.get({ name: request });
      return status?.conditions?.some(({ type }) => type === 'Approved') ?? false;
    });
  }

  async untilHeld(lease: string): Promise<string> {
    const leases = this.client.of(resources.leases);
    let holder = '';
    await this.until(`lease ${lease} is held`, async () => {
      const found = await leases.get({ namespace: 'kube-system', name: lease }).catch((error: unknown) => {
        if (isNotFound(error)) return undefined;
        throw error;
      });
      holder = found?.spec?.holderIdentity ?? '';
      return holder !== '';
    });
    return holder;
  }

  async until(what: string, holds: () => Promise<boolean>): Promise<void> {
    await waitUntil(what, holds, {
      patienceMs: PATIENCE_MS,
      pollMs: 50,
      logs: this.programs.map(({ log }) => log),
      mayCome: () => !this.programs.some(({ failed }) => failed()),
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#owned.disposeAsync();
  }

  #node(name: string): Promise<Node> {
    return this.client.of(resources.nodes).get({ name });
  }
}

function hasTaint(spec: Node['spec'], key: string): boolean {
  return spec?.taints?.some((taint) => taint.key === key) ?? false;
}

function isBalanced({ metadata, status }: Service): boolean {
  return (metadata?.finalizers?.length ?? 0) > 0 && (status?.loadBalancer?.ingress?.length ?? 0) > 0;
}

async function isGone(reading: Promise<unknown>): Promise<boolean> {
  try {
    await reading;
    return false;
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}
