/**
 * The whole program in this process, between an embedded API server behind a fault proxy and a memory cloud that fails on
 * demand, with kubelets and another writer beside it.
 */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { main } from '@outrigger/cloud-controller-manager';
import { systemClock, type Client, type Node } from '@outrigger/kube';
import {
  createMemoryCloud,
  createMemoryProvider,
  serveMemoryCloud,
  type MemoryCloud,
} from '@outrigger/provider-memory';
import {
  clientOf,
  startEmbeddedApiServer,
  startFaultProxy,
  startHollowNodes,
  type EmbeddedApiServer,
  type FaultProxy,
} from '@outrigger/testing';
import { faultsOfNode, isInitialised, type Machine } from './initialised-node.ts';
import { OtherWriter } from './other-writer.ts';
import { quickClock } from './quick-clock.ts';

/** No log line, no Event and no label may ever hold these. */
const CANARIES = { token: 'canary-token-8f14e45f', password: 'canary-password-c9f0f895' } as const;
const HASTE = 20;
const LIMIT_MS = 300_000;

type Provider = ReturnType<typeof createMemoryProvider>;

export interface RunningProgram {
  readonly ended: Promise<number>;
  readonly log: () => string;
  readonly stop: () => Promise<number>;
}

export interface RunOptions {
  /** Stands between the program and the provider of the memory cloud. */
  readonly twist?: (provider: Provider) => Provider;
  readonly args?: readonly string[];
  /** It ends by itself, with another code than 0. */
  readonly mustFail?: boolean;
}

export class FaultyCluster {
  readonly server: EmbeddedApiServer;
  readonly proxy: FaultProxy;
  readonly cloud: MemoryCloud;
  readonly directory: string;
  readonly machines: Machine[] = [];
  readonly other: OtherWriter;
  readonly #client: Client;
  readonly #owned: AsyncDisposableStack;
  readonly #programs: RunningProgram[] = [];
  readonly #failing = new Set<RunningProgram>();

  private constructor(
    parts: Pick<FaultyCluster, 'server' | 'proxy' | 'cloud' | 'directory'> & {
      readonly client: Client;
      readonly owned: AsyncDisposableStack;
    },
  ) {
    this.server = parts.server;
    this.proxy = parts.proxy;
    this.cloud = parts.cloud;
    this.directory = parts.directory;
    this.#client = parts.client;
    this.#owned = parts.owned;
    this.other = new OtherWriter(parts.client);
  }

  /** Ends with the test. */
  static async start(t: Pick<TestContext, 'after'>): Promise<FaultyCluster> {
    const owned = new AsyncDisposableStack();
    t.after(() => owned.disposeAsync());
    const directory = await mkdtemp(join(tmpdir(), 'outrigger-faults-'));
    owned.defer(() => rm(directory, { recursive: true }));
    const user = { username: 'manager', groups: ['system:masters'] };
    const server = owned.use(await startEmbeddedApiServer({ tokens: { [CANARIES.token]: user } }));
    const proxy = owned.use(await startFaultProxy({ target: server.url, certificateAuthority: server.ca ?? '' }));
    const authority = Buffer.from(proxy.certificateAuthority ?? '').toString('base64');
    const direct = server.kubeconfig('token').yaml;
    assert.ok(direct.includes(CANARIES.token), 'the token is in the kubeconfig');
    await writeFile(join(directory, 'direct'), direct);
    const proxied = direct
      .replaceAll(server.url, proxy.url)
      .replace(/certificate-authority-data: .*/u, `certificate-authority-data: ${authority}`);
    await writeFile(join(directory, 'kubeconfig'), proxied);
    const client = owned.use(await clientOf(join(directory, 'direct')));
    const cloud = createMemoryCloud({ clock: systemClock, random: () => 0.5, settings: { latencyMs: 2 } });
    const served = owned.use(await serveMemoryCloud(cloud));
    await writeFile(join(directory, 'cloud-config'), JSON.stringify({ endpoint: served.endpoint }));
    const cluster = new FaultyCluster({ server, proxy, cloud, directory, client, owned });
    owned.defer(() => cluster.#end());
    return cluster;
  }

  get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  get cloudConfig(): string {
    return join(this.directory, 'cloud-config');
  }

  /** Machines in the cloud, and kubelets on them that register and turn Ready. */
  async addNodes(count: number): Promise<void> {
    for (let index = 0; index < count; index++) {
      const [name, ip, externalIp] = [`node-${index}`, `10.0.0.${index + 1}`, `203.0.113.${index + 1}`];
      const { providerID, region, type, zone } = this.cloud.createInstance({
        name,
        addresses: [
          { type: 'InternalIP', address: ip },
          { type: 'ExternalIP', address: externalIp },
          { type: 'Hostname', address: name },
        ],
      });
      this.machines.push({ name, ip, externalIp, providerID, region, type, zone });
    }
    const kubelets = await startHollowNodes({
      client: this.#client,
      count,
      node: (index) => ({ ...this.machines[index]!, taints: [{ key: 'example/first', effect: 'NoExecute' }] }),
      heartbeats: false,
    });
    this.#owned.use(kubelets);
    // A third of them is somebody else's business too.
    const touched = this.machines.filter((_, index) => index % 3 === 0);
    await Promise.all(touched.map(({ name }) => this.other.touch(name, new AbortController().signal)));
  }

  /** The program, in a hurry, without an election unless `args` say otherwise. */
  run({ args = [], mustFail = false, twist = (provider) => provider }: RunOptions = {}): RunningProgram {
    const signals = new EventEmitter();
    let log = '';
    const ended = main(
      [
        '--cloud-provider=memory',
        `--cloud-config=${this.cloudConfig}`,
        `--kubeconfig=${this.kubeconfig}`,
        '--secure-port=0',
        '--leader-elect=false',
        '--v=8',
        ...args,
      ],
      {
        builtInProviders: { memory: () => Promise.resolve({ default: () => twist(createMemoryProvider()) }) },
        env: {},
        stdout: { write: () => true },
        stderr: { write: (text) => void (log += text) },
        signals,
        exit: () => assert.fail('must not exit by itself'),
        workingDirectory: this.directory,
        hostname: 'test',
        clock: quickClock(HASTE),
      },
    );
    const program: RunningProgram = {
      ended,
      log: () => log,
      stop: () => {
        signals.emit('SIGTERM', 'SIGTERM');
        return ended;
      },
    };
    this.#programs.push(program);
    if (mustFail) this.#failing.add(program);
    return program;
  }

  nodes(): readonly Node[] {
    return this.server.store.list({ plural: 'nodes' });
  }

  initialised(): readonly string[] {
    return this.nodes()
      .filter(isInitialised)
      .map(({ metadata }) => metadata?.name ?? '');
  }

  async until(what: string, holds: () => boolean): Promise<void> {
    const deadline = systemClock.monotonic() + LIMIT_MS;
    while (!holds()) {
      if (systemClock.monotonic() > deadline) {
        const logs = this.#programs.map(({ log }) => log().slice(-6_000));
        assert.fail(`not within ${LIMIT_MS / 1_000} s: ${what}\n${logs.join('\n')}`);
      }
      await systemClock.sleep(10);
    }
  }

  /** All nodes come to be as they must, and nothing of anybody else is lost. */
  async converged(): Promise<void> {
    const faults = (): readonly string[] =>
      this.machines.flatMap((machine) => {
        const node = this.server.store.get({ plural: 'nodes' }, machine.name);
        return node ? faultsOfNode(node, machine) : [`${machine.name} was deleted`];
      });
    await this.until('all nodes as they must be', () => faults().length === 0);
    this.nothingLost();
  }

  nothingLost(): void {
    assert.equal(this.nodes().length, this.machines.length, 'no node was deleted');
    for (const node of this.nodes()) {
      assert.deepEqual(this.other.lostOn(node), []);
      assert.ok(
        node.spec?.taints?.some(({ key }) => key === 'example/first'),
        node.metadata?.name,
      );
    }
    assert.ok(this.other.touched > 0);
  }

  /** In the logs so far, and in all that the program has written to the API server. */
  noSecretsTold(): void {
    const told = [
      ...this.#programs.map(({ log }) => log()),
      JSON.stringify(this.server.store.list({ group: 'events.k8s.io', plural: 'events' })),
      JSON.stringify(this.server.store.list({ plural: 'events' })),
      JSON.stringify(this.nodes()),
    ];
    for (const [name, canary] of Object.entries(CANARIES)) {
      for (const text of told) assert.ok(!text.includes(canary), `the ${name} is told: ${around(text, canary)}`);
    }
  }

  /** A cloud that is not there, with a password in its URL. */
  async moveCloudAway(): Promise<void> {
    const endpoint = `http://manager:${CANARIES.password}@127.0.0.1:1`;
    await writeFile(this.cloudConfig, JSON.stringify({ endpoint }));
  }

  async #end(): Promise<void> {
    for (const program of this.#programs)
      assert.equal((await program.stop()) !== 0, this.#failing.has(program), 'exit code');
    this.noSecretsTold();
  }
}

function around(text: string, canary: string): string {
  const at = text.indexOf(canary);
  return text.slice(Math.max(0, at - 200), at + 100);
}
