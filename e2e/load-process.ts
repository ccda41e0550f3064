/**
 * Runs the attack, or the neutral writes in its place, in a process of its own (`run-load.ts`): what it takes to write texts of 240 KB must
 * delay neither the fake cloud's answers nor who looks when an object has reached its state. It gives way to all else: in a cluster, a tenant and his
 * kubelets have machines of their own. What their writes take of the API server and etcd is not affected.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { giveWay } from '../scripts/test/give-way.ts';
import type { HostileKubeletsOptions, KubeletCounts } from './hostile-kubelets.ts';
import type { HostileTenantOptions, TenantCounts } from './hostile-tenant.ts';
import type { NeutralLoadOptions } from './neutral-load.ts';

const PROGRAM = fileURLToPath(new URL('run-load.ts', import.meta.url));

/** What to run; `seed`: of all that it chooses. */
export type Load = { readonly seed: number } & (
  | { readonly kind: 'neutral'; readonly options: Omit<NeutralLoadOptions, 'random'> }
  | {
      readonly kind: 'hostile';
      readonly tenant: Omit<HostileTenantOptions, 'random'>;
      readonly kubelets: Omit<HostileKubeletsOptions, 'random'>;
    }
);

/** What was written; nothing of it by neutral writers. */
export interface LoadCounts {
  readonly tenant: TenantCounts;
  readonly kubelets: KubeletCounts;
}

/** First that it has begun; when it was told to stop and nothing is under way any more, what it did. */
export type LoadMessage = 'started' | LoadCounts;

export class LoadProcess implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  /** After its last message. */
  readonly #disconnect: Promise<unknown>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#exit = once(child, 'exit');
    this.#disconnect = once(child, 'disconnect');
  }

  /** Resolves when it has begun. */
  static async start(load: Load): Promise<LoadProcess> {
    const child = fork(PROGRAM, { execArgv: [], detached: true });
    giveWay(child);
    const started = new LoadProcess(child);
    try {
      await started.#ask(load);
      return started;
    } catch (error) {
      await started[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Resolves when nothing is under way any more. Rejects when it has ended by itself: its own error is on stderr. */
  async stop(): Promise<LoadCounts> {
    const counts = (await this.#ask('stop')) as LoadCounts;
    await this.#exit;
    return counts;
  }

  /** Ends the process at once, if it still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  async #ask(message: Load | 'stop'): Promise<LoadMessage> {
    const answered = once(this.#child, 'message').then(([answer]) => answer as LoadMessage);
    const ended = this.#disconnect.then(async () => {
      await this.#exit;
      throw new Error(`the process of the load ended by itself: ${this.#child.exitCode ?? this.#child.signalCode}`);
    });
    if (this.#child.connected) this.#child.send(message, () => {});
    return Promise.race([answered, ended]);
  }
}
