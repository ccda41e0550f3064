/** Real kubelets with nothing below them (`go/hollow-kubelet`), each on an address of its own, as nodes have. */
import { networkInterfaces } from 'node:os';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ProcessGroup, type ControlPlane, type Program } from '@outrigger/testing';
import { judgeProgram } from './programs.ts';

/** An API server asks no kubelet on a loopback address, so these are made where the tests run: `run.ts`. */
export const NODE_ADDRESSES: Readonly<Record<string, string>> = {
  'node-1': '10.0.0.11',
  'node-2': '10.0.0.12',
  'node-3': '10.0.0.13',
};

export class HollowKubelets implements AsyncDisposable {
  readonly #controlPlane: ControlPlane;
  readonly #program: string;
  readonly #group = new ProcessGroup();
  readonly #running = new Map<string, Program>();

  private constructor(controlPlane: ControlPlane, program: string) {
    this.#controlPlane = controlPlane;
    this.#program = program;
  }

  static async create(controlPlane: ControlPlane): Promise<HollowKubelets> {
    const here = Object.values(networkInterfaces()).flatMap((addresses) => addresses?.map(({ address }) => address));
    const missing = Object.values(NODE_ADDRESSES).filter((address) => !here.includes(address));
    if (missing.length > 0) {
      throw new Error(`no interface has ${missing.join(', ')}: run this by make judges, in a network of its own`);
    }
    return new HollowKubelets(controlPlane, await judgeProgram('hollow-kubelet'));
  }

  /** Resolves when its process runs; flags of kubelet come after the usual ones. */
  async start(name: string, ...flags: readonly string[]): Promise<void> {
    const { directory } = this.#controlPlane;
    const home = join(directory, 'kubelets', name);
    await mkdir(home, { recursive: true });
    const { path: kubeconfig } = await this.#controlPlane.kubeconfigFor({
      user: `system:node:${name}`,
      groups: ['system:nodes'],
    });
    const address = NODE_ADDRESSES[name];
    const args = [
      `--kubeconfig=${kubeconfig}`,
      `--hostname-override=${name}`,
      `--root-dir=${home}`,
      `--cert-dir=${join(home, 'pki')}`,
      `--address=${address}`,
      `--node-ip=${address}`,
      '--cloud-provider=external',
      '--read-only-port=0',
      '--healthz-port=0',
      '--anonymous-auth=false',
      '--authentication-token-webhook',
      '--authorization-mode=Webhook',
      `--client-ca-file=${join(directory, 'pki', 'ca.crt')}`,
      ...flags,
    ];
    const log = join(directory, 'logs', `${name}.log`);
    this.#running.set(name, await this.#group.start({ name, command: this.#program, args, log }));
  }

  /** Ends it with SIGKILL, as when its machine goes. */
  async stop(name: string): Promise<void> {
    const program = this.#running.get(name);
    program?.signal('SIGKILL');
    await program?.exited();
    this.#running.delete(name);
  }

  /** Process IDs of those that run, by name of the node. */
  get pids(): ReadonlyMap<string, number> {
    return new Map([...this.#running].filter(([, { exit }]) => !exit).map(([name, { pid }]) => [name, pid]));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#group[Symbol.asyncDispose]();
  }
}
