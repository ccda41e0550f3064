/** Tries recipes on targets in a thread of its own: what exhausts its memory or does not end is a finding, and ends the thread only. */
import { Worker } from 'node:worker_threads';
import { systemClock } from '@outrigger/kube';
import type { Recipe } from './grow.ts';
import type { Report, Task } from './worker.ts';

export interface Finding {
  readonly target: string;
  readonly recipe: Recipe;
  readonly problem: string;
}

/** Doubled up to 256 KiB, which is what Kubernetes allows all annotations of one object. */
const allSizes: readonly number[] = [2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072, 262_144];

/** Far above what the largest text takes on a slow machine; a quadratic one is found long before. */
const PATIENCE_MS = 300_000;
/** How often a finding has to come back. */
const CONFIRMATIONS = 2;

export class RecipeTrial implements AsyncDisposable {
  readonly #memoryMb: number;
  #worker: Worker | undefined;

  /** `memoryMb`: of the heap of the thread; what needs more is a finding. Default: 512. */
  constructor({ memoryMb = 512 }: { readonly memoryMb?: number } = {}) {
    this.#memoryMb = memoryMb;
  }

  /**
   * What is wrong with this target on this text, or `undefined`. What costs too much does so each time, in a new thread too;
   * what does not come back was the machine: a collection of garbage, or another program.
   */
  async try(target: string, recipe: Recipe, sizes: readonly number[] = allSizes): Promise<Finding | undefined> {
    let problem = await this.#once(target, recipe, sizes);
    for (let again = 0; again < CONFIRMATIONS && problem !== undefined; again++) {
      await this.#worker?.terminate();
      this.#worker = undefined;
      problem = await this.#once(target, recipe, sizes);
    }
    return problem === undefined ? undefined : { target, recipe, problem };
  }

  async #once(target: string, recipe: Recipe, sizes: readonly number[]): Promise<string | undefined> {
    const worker = this.#worker ?? this.#start();
    return new Promise<string | undefined>((resolve) => {
      let size = 0;
      const timer = systemClock.setTimer(PATIENCE_MS, () => end(`${size} characters: no end after ${PATIENCE_MS} ms`));
      const end = (why: string | undefined, dead = true): void => {
        timer.cancel();
        worker.off('message', onMessage).off('error', onError).off('exit', onExit);
        if (dead) {
          this.#worker = undefined;
          worker.on('error', () => {});
          void worker.terminate();
        }
        resolve(why);
      };
      const onMessage = (report: Report): void => {
        if (report.kind === 'size') size = report.size;
        else end(report.problem, false);
      };
      const onError = (error: Error): void => end(`${size} characters: ${error.message}`);
      const onExit = (): void => end(`${size} characters: the thread ended`);
      worker.on('message', onMessage).on('error', onError).on('exit', onExit);
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, and no window
      worker.postMessage({ target, recipe, sizes } satisfies Task);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    this.#worker = new Worker(new URL('worker.ts', import.meta.url), {
      resourceLimits: { maxOldGenerationSizeMb: this.#memoryMb },
    });
    return this.#worker;
  }
}
