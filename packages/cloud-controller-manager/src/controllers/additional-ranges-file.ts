/** `--additional-cluster-cidrs-file`, read at the start of a controller and again while it runs. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { reloadFiles } from '@outrigger/controller-manager';
import type { LeaderContext } from './cloud-controller.ts';

/**
 * `use` is called with the text of the file, and throws what is wrong with it; then what it was called with before stays. The
 * function that is given back resolves when the file has been read once, and goes on until its signal aborts. Without the flag
 * it does nothing. `name`: for log and metrics.
 */
export function followAdditionalRanges(
  context: Pick<LeaderContext, 'clock' | 'environment' | 'logger' | 'metrics' | 'options'>,
  name: string,
  use: (text: string) => void,
): (signal: AbortSignal) => Promise<void> {
  const { clock, environment, logger, metrics, options } = context;
  const { additionalClusterCidrsFile: file } = options.ipam;
  return async (signal) => {
    if (file === '') return;
    const fullPath = path.resolve(environment.workingDirectory, file);
    const current: string[] = [];
    try {
      const text = await readFile(fullPath, { encoding: 'utf8', signal });
      use(text);
      current.push(text);
    } catch (error) {
      if (signal.aborted) return;
      // Without them nothing wrong is done: they are tried again, as a changed file is.
      logger.error('The file of additional cluster CIDRs is not in effect', { file: fullPath, error });
    }
    const apply = async ([text = '']: readonly string[]): Promise<void> => use(text);
    void reloadFiles({ name, paths: [fullPath], current, apply, clock, logger, metrics, signal });
  };
}
