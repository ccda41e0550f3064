/** Runs one target on texts of growing size, in a thread that can be ended when it does not come back. */
import { parentPort as port } from 'node:worker_threads';
import { scanTime, timeOf, whyTooMuch, type Step } from './cost.ts';
import { grow, type Recipe } from './grow.ts';
import { oldDefects } from './old-defects.ts';
import { plantedTargets } from './planted-targets.ts';

export interface Task {
  readonly target: string;
  readonly recipe: Recipe;
  readonly sizes: readonly number[];
}

/** `size`: about to be tried. `problem`: what it costs is more than its size, or it threw what is no `Error`. */
export type Report =
  | { readonly kind: 'size'; readonly size: number }
  | { readonly kind: 'done'; readonly problem?: string };

async function work({ target: name, recipe, sizes }: Task): Promise<string | undefined> {
  const isIt = (one: { readonly name: string }): boolean => one.name === name;
  // Only where it is asked for: it loads most of the product, for more than a second in each new thread.
  const target = [...plantedTargets, ...oldDefects].find(isIt) ?? (await import('./targets.ts')).targets.find(isIt);
  if (!target) return 'there is no such target';
  const steps: Step[] = [];
  for (const size of sizes) {
    port?.postMessage({ kind: 'size', size } satisfies Report);
    const text = grow(recipe, size);
    const pending: Promise<unknown>[] = [];
    let thrown: unknown;
    const run = (): void => {
      try {
        const answer = target.run(text);
        if (answer instanceof Promise) pending.push(answer.catch((error: unknown) => (thrown = error)));
      } catch (error) {
        thrown = error;
      }
    };
    let ms = timeOf(run, 1);
    if (pending.length > 0) {
      const before = process.threadCpuUsage();
      await Promise.all(pending);
      const { user, system } = process.threadCpuUsage(before);
      ms += (user + system) / 1_000;
    } else if (ms > 4) {
      ms = Math.min(ms, timeOf(run, 2));
    }
    if (thrown !== undefined && !(thrown instanceof Error)) return `it threw a ${typeof thrown}, which is no Error`;
    if (thrown instanceof RangeError && /call stack/i.test(thrown.message))
      return `${size} characters: ${thrown.message}`;
    steps.push({ size: text.length, ms });
    const problem = whyTooMuch(steps, ms > 40 ? scanTime(text) : 1, target.scans);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

port?.on('message', (task: Task) => {
  void work(task).then((problem) => {
    port?.postMessage({ kind: 'done', ...(problem !== undefined && { problem }) } satisfies Report);
  });
});
