/** The whole program in this process, on the embedded API server: what its integration tests share. */
import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloudProvider, InstanceAnswer } from '@outrigger/cloud-provider';
import { systemClock, type Clock, type Lease, type Node } from '@outrigger/kube';
import { freePort, hollowNode, startEmbeddedApiServer, type EmbeddedApiServer } from '@outrigger/testing';
import { main } from './main.ts';

const UNINITIALIZED = 'node.cloudprovider.kubernetes.io/uninitialized';
const LEASES = { group: 'coordination.k8s.io', plural: 'leases' };

/** A cloud that knows every node by its name. */
export function greenCloud(onClose: () => void = () => {}): CloudProvider {
  return {
    name: 'green',
    open: (host) =>
      Promise.resolve({
        instances: {
          batchSize: 100,
          lookUp: (nodes, _need, call) =>
            call.call({ name: 'GET /machines' }, () =>
              Promise.resolve(
                nodes.map(({ name }): InstanceAnswer => ({
                  asOf: host.clock.monotonic(),
                  result: {
                    kind: 'found',
                    instance: {
                      providerID: `green://${name}`,
                      state: 'running',
                      type: 'leaf',
                      zone: 'z1',
                      region: 'r1',
                      addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
                    },
                  },
                })),
              ),
            ),
          read: () => Promise.reject(new Error('not asked for here')),
        },
      }),
    close: () => {
      onClose();
      return Promise.resolve();
    },
  };
}

export interface Running {
  readonly url: string;
  readonly ended: Promise<number>;
  readonly log: () => string;
  /** What it printed. */
  readonly out: () => string;
  readonly signal: (name: string) => void;
}

export class Bench implements AsyncDisposable {
  readonly server: EmbeddedApiServer;
  readonly directory: string;
  /** Of the programs that are started from now on. Default: the system's. */
  clock: Clock | undefined;
  readonly #running: Running[] = [];

  constructor(server: EmbeddedApiServer, directory: string) {
    this.server = server;
    this.directory = directory;
  }

  /** `token`: the program is known by it, and not by a client certificate. */
  static async start(token?: string): Promise<Bench> {
    const admin = { username: 'admin', groups: ['system:masters'] };
    const server = await startEmbeddedApiServer(token === undefined ? {} : { tokens: { [token]: admin } });
    const directory = await mkdtemp(join(tmpdir(), 'outrigger-program-'));
    const { yaml } = server.kubeconfig(token === undefined ? 'certificate' : 'token');
    await writeFile(join(directory, 'kubeconfig'), yaml);
    return new Bench(server, directory);
  }

  async run(provider: CloudProvider, ...args: string[]): Promise<Running> {
    const signals = new EventEmitter();
    const port = await freePort();
    let [log, out] = ['', ''];
    const ended = main(
      [
        '--cloud-provider=green',
        '--kubeconfig=kubeconfig',
        '--bind-address=127.0.0.1',
        '--insecure-loopback',
        `--secure-port=${port}`,
        '--leader-elect-lease-duration=24s',
        '--leader-elect-renew-deadline=20s',
        '--leader-elect-retry-period=500ms',
        '-v=4',
        ...args,
      ].map((arg) => arg.replace('=kubeconfig', `=${join(this.directory, 'kubeconfig')}`)),
      {
        builtInProviders: { green: () => Promise.resolve({ default: () => provider }) },
        env: {},
        stdout: { write: (text) => void (out += text) },
        stderr: { write: (text) => void (log += text) },
        signals,
        exit: () => assert.fail('must not exit by itself'),
        workingDirectory: this.directory,
        hostname: 'test',
        ...(this.clock && { clock: this.clock }),
      },
    );
    const running: Running = {
      url: `https://127.0.0.1:${port}`,
      ended,
      log: () => log,
      out: () => out,
      signal: (name) => void signals.emit(name, name),
    };
    this.#running.push(running);
    return running;
  }

  addNode(name: string): void {
    const node = hollowNode({ name, ip: '10.0.0.1' });
    this.server.store.put({ ...node, metadata: { ...node.metadata, name, uid: `uid-${name}` } });
  }

  node(name: string): Node {
    return this.server.store.get({ plural: 'nodes' }, name) as Node;
  }

  lease(): (Lease & ReturnType<EmbeddedApiServer['store']['get']>) | undefined {
    return this.server.store.get(LEASES, 'cloud-controller-manager', 'kube-system');
  }

  isInitialised(name: string): boolean {
    return !this.node(name).spec?.taints?.some(({ key }) => key === UNINITIALIZED);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { signal } of this.#running) signal('SIGTERM');
    await Promise.all(this.#running.map(({ ended }) => ended));
    await this.server[Symbol.asyncDispose]();
    await rm(this.directory, { recursive: true });
  }
}

export async function until(what: string, holds: () => boolean, log: () => string): Promise<void> {
  for (let i = 0; i < 3_000 && !holds(); i++) await systemClock.sleep(20);
  assert.ok(holds(), `${what}\n${log()}`);
}

export function page(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { rejectUnauthorized: false, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString()));
      response.on('end', () => resolve(body));
    }).on('error', reject);
  });
}
