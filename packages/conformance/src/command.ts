/** `outrigger conformance`: what of this package the program runs by its first word. */
import { runClusterConformance } from './cluster/command.ts';
import type { CommandIo } from './command-io.ts';
import { runProviderConformance } from './provider/command.ts';
import { runComparison } from './report/compare-command.ts';

type Run = (args: readonly string[], io: CommandIo) => Promise<number>;

const WORDS: Readonly<Record<string, Run>> = {
  cluster: runClusterConformance,
  compare: runComparison,
  provider: runProviderConformance,
};

/** `args` without the word `conformance`. Resolves with the exit code. */
export async function conformanceCommand(args: readonly string[], io: CommandIo): Promise<number> {
  const [word = '', ...rest] = args;
  const run = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined;
  if (run) return run(rest, io);
  const words = Object.keys(WORDS).join('|');
  const isHelp = word === '--help' || word === '-h';
  (isHelp ? io.stdout : io.stderr).write(`usage: outrigger conformance ${words} [flags]\n`);
  return isHelp ? 0 : 1;
}
