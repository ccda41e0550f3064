/** One of several replicas of the program, as a Deployment keeps it: behind a fault proxy of its own, and started again whenever it ends. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@outrigger/kube';
import { startFaultProxy, type ControlPlane, type FaultProxy } from '@outrigger/testing';
import { Manager } from './manager.ts';

export const LEASE = { namespace: 'kube-system', name: 'cloud-controller-manager' } as const;
/** Short, so that a round takes seconds. */
export const LEASE_MS = 3_000;

export interface ReplicaOptions {
  readonly controlPlane: ControlPlane;
  /** One of the control plane's `tokenUsers`: the audit log tells replicas apart by it. */
  readonly user: string;
  readonly cloudConfig: string;
  /** Where its log goes. */
  readonly directory: string;
  /** In [0, 1): how long until it is started again. */
  readonly random: () => number;
}

export class Replica implements AsyncDisposable {
  readonly user: string;
  readonly proxy: FaultProxy;
  readonly log: string;
  readonly #manager: Manager;
  readonly #token: string;
  readonly #random: () => number;
  readonly #codes: (number | null)[] = [];
  #stopping = false;
  #supervised: Promise<void> | undefined;

  private constructor(options: ReplicaOptions, proxy: FaultProxy, kubeconfig: { path: string; text: string }) {
    this.user = options.user;
    this.proxy = proxy;
    this.log = join(options.directory, `${options.user}.log`);
    this.#random = options.random;
    this.#token = /token: "?([^"\s]+)/u.exec(kubeconfig.text)?.[1] ?? '';
    if (this.#token === '') throw new Error(`the kubeconfig of ${options.user} holds no token`);
    this.#manager = new Manager(
      [
        '--cloud-provider=memory',
        `--cloud-config=${options.cloudConfig}`,
        `--kubeconfig=${kubeconfig.path}`,
        '--secure-port=0',
        `--leader-elect-lease-duration=${LEASE_MS}ms`,
        '--leader-elect-renew-deadline=2s',
        '--leader-elect-retry-period=500ms',
        '--v=4',
      ],
      this.log,
    );
  }

  static async start(options: ReplicaOptions): Promise<Replica> {
    const { controlPlane, user } = options;
    const proxy = await startFaultProxy({
      target: controlPlane.server,
      certificateAuthority: controlPlane.certificateAuthority,
    });
    const kubeconfig = await controlPlane.kubeconfigFor({
      user,
      credential: 'token',
      server: proxy.url,
      certificateAuthority: proxy.certificateAuthority ?? '',
    });
    const replica = new Replica(options, proxy, kubeconfig);
    replica.#supervised = replica.#supervise();
    return replica;
  }

  /** Monotonic milliseconds: when it last asked for the Lease and got it. */
  get renewedAt(): number {
    const renewal = this.proxy.calls.calls.findLast(
      ({ name, resource, status, verb }) =>
        resource === 'leases' &&
        name === LEASE.name &&
        (verb === 'update' || verb === 'create') &&
        status !== undefined &&
        status < 300,
    );
    return renewal?.startedAt ?? Number.NEGATIVE_INFINITY;
  }

  /** Exit codes of the processes that have ended so far, `null` after a signal. */
  get codes(): readonly (number | null)[] {
    return this.#codes;
  }

  async kill(): Promise<void> {
    await this.#manager.end('SIGKILL');
  }

  async freeze(ms: number): Promise<void> {
    this.#manager.signal('SIGSTOP');
    await systemClock.sleep(ms);
    this.#manager.signal('SIGCONT');
  }

  /** SIGTERM, for good. Resolves with what was wrong with its end, `undefined` if nothing was. */
  async stop(): Promise<string | undefined> {
    this.#stopping = true;
    const { pid } = this.#manager;
    const code = await this.#manager.end('SIGTERM');
    await this.#supervised;
    if (pid === undefined || code === 0) return undefined;
    const own = (await readFile(this.log, 'utf8')).split('\n').filter((line) => line.includes(` ${pid} `));
    // Started a moment ago: the signal ends what has not begun to listen to it.
    if (code === null && own.length === 0) return undefined;
    // It was ending already.
    if (own.some((line) => line.includes('Leadership lost'))) return undefined;
    return `${this.user} ended with ${code ?? 'a signal'} after SIGTERM`;
  }

  async lastLines(count: number): Promise<string> {
    return (await readFile(this.log, 'utf8')).trimEnd().split('\n').slice(-count).join('\n');
  }

  /** What its log must not tell. */
  async problems(): Promise<readonly string[]> {
    const log = await readFile(this.log, 'utf8');
    const problems: string[] = [];
    if (log.includes(this.#token)) problems.push(`the token of ${this.user} is in its log`);
    // The one reason to end that a replica may have.
    const lost = log.split('\n').filter((line) => line.includes('Leadership lost')).length;
    const others = this.#codes.filter((code) => code !== null).length - lost;
    if (others > 0) problems.push(`${this.user} ended by itself ${others} times and had not lost the Lease`);
    return problems;
  }

  /** Whether it led as `identity` until the Lease ran out: from then on it may not touch it, not even to give it back. */
  async hasLost(identity: string): Promise<boolean> {
    const log = await readFile(this.log, 'utf8');
    return log
      .split('\n')
      .some(
        (line) => line.includes('"Stopped leading"') && line.includes(identity) && line.includes('not renewed in time'),
      );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true;
    await this.kill();
    await this.#supervised;
    await this.proxy[Symbol.asyncDispose]();
  }

  async #supervise(): Promise<void> {
    while (!this.#stopping) {
      this.#manager.start();
      this.#codes.push(await this.#manager.ended);
      if (!this.#stopping) await systemClock.sleep(200 + 800 * this.#random());
    }
  }
}
