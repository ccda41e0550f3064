/** What the program can be asked to do instead of running: a word before any flag. Entry point for a new one: `defineCommand`. */
import { cutText } from '@outrigger/cloud-provider';
import { bool, FlagError, FlagSet, renderHelp, type FlagGroup, type ParsedFlags } from '@outrigger/controller-manager';
import { oneLine } from '../explain/one-line.ts';
import type { Command, Environment } from '../program/environment.ts';

export type { Command } from '../program/environment.ts';

/** Of an error, in characters: it may quote what a server says. */
const LONGEST_MESSAGE = 4_000;

export interface CommandDefinition {
  readonly name: string;
  readonly summary: string;
  /** What it takes besides flags, for its help: `node|service|route NAME`. Default: nothing, and a word is refused. */
  readonly words?: string;
  /** Default: none but `--help`. */
  readonly flags?: readonly FlagGroup<object>[];
  /** Flags of the program that it takes too: its help does not repeat them. Default: none. */
  readonly programFlags?: (environment: Pick<Environment, 'controllers'>) => readonly FlagGroup<object>[];
  /** What one does, and the whole command line. */
  readonly examples?: readonly (readonly [what: string, line: string])[];
  /** The words are `parsed.words`. Throws a `FlagError`, or whatever else has one line to say to the person who called. */
  readonly run: (parsed: ParsedFlags, environment: Environment, args: readonly string[]) => Promise<number>;
}

interface HelpOptions {
  help: boolean;
}

const helpFlags: FlagGroup<HelpOptions> = {
  title: 'Help',
  flags: { help: { type: bool, default: false, shorthand: 'h', usage: 'Print this help and exit.' } },
};

/** Gives a command `--help`, and its mistakes the form that those of the program have. */
export function defineCommand(definition: CommandDefinition): Command {
  const { examples = [], flags = [], name, programFlags, run, summary, words } = definition;
  const own = [...flags, helpFlags];
  const usage = ['outrigger', name, ...(words === undefined ? [] : [words]), '[flags]'].join(' ');
  const flagsOf = (environment: Pick<Environment, 'controllers'>): FlagSet =>
    new FlagSet([...flags, ...(programFlags?.(environment) ?? []), helpFlags], { takesWords: words !== undefined });
  const before = [
    `Usage:\n\n  ${usage}\n`,
    ...(examples.length === 0 ? [] : [renderExamples(examples)]),
    ...(programFlags ? ['Takes the flags of cloud-controller-manager too: those that it is to run with.\n'] : []),
  ];
  return {
    name,
    summary,
    choices: (words ?? '')
      .split(' ', 1)
      .flatMap((word) => (/^[a-z-]+(?:\|[a-z-]+)*$/u.test(word) ? word.split('|') : [])),
    flagsOf,
    examples: examples.map(([, line]) => line),
    run: async (args, environment) => {
      const set = flagsOf(environment);
      try {
        const parsed = set.parse(args);
        for (const warning of parsed.warnings) environment.stderr.write(`outrigger ${name}: ${warning}\n`);
        if (!parsed.of(helpFlags).help) return await run(parsed, environment, args);
        const { columns } = environment.stdout;
        environment.stdout.write(renderHelp(summary, { groups: own }, { columns, before }));
        return 0;
      } catch (error) {
        const said = error instanceof Error ? error.message : String(error);
        const message = cutText(oneLine(said), LONGEST_MESSAGE);
        const hint = error instanceof FlagError && error.code === 'unexpected-argument' ? `; usage: ${usage}` : '';
        environment.stderr.write(`outrigger ${name}: ${message}${hint}\n`);
        return 1;
      }
    },
  };
}

export function renderExamples(examples: readonly (readonly [what: string, line: string])[]): string {
  return `Examples:\n\n${examples.map(([what, line]) => `  # ${what}\n  ${line}\n`).join('\n')}`;
}
