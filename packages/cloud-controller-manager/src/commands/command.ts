/** What the program can be asked to do instead of running: a word before any flag. Entry point for a new one: `defineCommand`. */
import { bool, FlagError, FlagSet, renderHelp, type FlagGroup, type ParsedFlags } from '@outrigger/controller-manager';
import type { Environment } from '../program/environment.ts';

export interface Command {
  /** The word by which it is called: `explain`. */
  readonly name: string;
  /** One line for the list of commands, with a full stop. */
  readonly summary: string;
  /** `args` without its name. Returns the exit code; what is wrong with them is one line on stderr. Never throws. */
  run(args: readonly string[], environment: Environment): Promise<number>;
}

export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  /** What it takes besides flags, for its help: `node|service|route NAME`. Default: nothing, and a word is refused. */
  readonly words?: string;
  /** Default: none but `--help`. As a function: those that depend on what the program is made of. */
  readonly flags?: readonly FlagGroup<object>[] | ((environment: Environment) => readonly FlagGroup<object>[]);
  /** The words are `parsed.words`. Throws a `FlagError`, or whatever else has one line to say to the person who called. */
  readonly run: (parsed: ParsedFlags, environment: Environment) => Promise<number>;
}

interface HelpOptions {
  help: boolean;
}

const helpFlags: FlagGroup<HelpOptions> = {
  title: 'Help',
  flags: { help: { type: bool, default: false, shorthand: 'h', usage: 'Print this help and exit.' } },
};

/** Gives a command `--help`, and its mistakes the form that those of the program have. */
export function defineCommand({ name, summary, words, flags = [], run }: CommandDefinition): Command {
  const usage = ['outrigger', name, ...(words === undefined ? [] : [words]), '[flags]'].join(' ');
  return {
    name,
    summary,
    run: async (args, environment) => {
      const own = typeof flags === 'function' ? flags(environment) : flags;
      const set = new FlagSet([...own, helpFlags], { takesWords: words !== undefined });
      try {
        const parsed = set.parse(args);
        for (const warning of parsed.warnings) environment.stderr.write(`outrigger ${name}: ${warning}\n`);
        if (!parsed.of(helpFlags).help) return await run(parsed, environment);
        environment.stdout.write(`${usage}\n\n${renderHelp(summary, set, environment.stdout.columns)}`);
        return 0;
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const hint = error instanceof FlagError && error.code === 'unexpected-argument' ? `; usage: ${usage}` : '';
        environment.stderr.write(`outrigger ${name}: ${message}${hint}\n`);
        return 1;
      }
    },
  };
}
