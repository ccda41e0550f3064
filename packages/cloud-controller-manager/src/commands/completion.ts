/** `outrigger completion`: a script that completes commands and flags in a shell, made of the tables of flags. */
import { FlagError, flagNameOf, type Flag } from '@outrigger/controller-manager';
import { controllerFlags } from '../controllers/controllers.ts';
import { flagSetOf } from '../options/program-options.ts';
import type { Environment } from '../program/environment.ts';
import { defineCommand, type Command } from './command.ts';
import {
  bashCompletion,
  fishCompletion,
  kubectlCompletion,
  type CompletedCommand,
  type CompletedFlag,
} from './completion-scripts.ts';

/** Of zsh it is bash's own, which zsh can run. */
const ZSH_HEAD = 'autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n';

export const completionCommand: Command = defineCommand({
  name: 'completion',
  summary: 'Prints a script that completes commands and flags in your shell.',
  words: 'bash|zsh|fish',
  examples: [
    ['In this shell', 'source <(outrigger completion bash)'],
    ['In every shell', 'outrigger completion fish > ~/.config/fish/completions/outrigger.fish'],
  ],
  run: ({ words }, environment) => {
    const [shell = '', ...more] = words;
    const { commands = [] } = environment;
    const known = [programOf(environment), ...commands.map((command) => completed(command, environment))];
    const script = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion }[shell];
    // For kubectl no script is printed, but what it may be that is being typed: the last of the words.
    const text = shell === 'kubectl' ? kubectlCompletion(known, more) : more.length === 0 && script?.(known);
    if (!text) throw new FlagError('unexpected-argument', 'expected one shell: bash, zsh or fish');
    environment.stdout.write(text);
    return Promise.resolve(0);
  },
});

function zshCompletion(commands: readonly CompletedCommand[]): string {
  return `${ZSH_HEAD}${bashCompletion(commands)}`;
}

/** The program itself: flags without a command before them. */
function programOf({ controllers }: Environment): CompletedCommand {
  return { name: '', summary: '', words: [], flags: flagsOf(flagSetOf(controllerFlags(controllers)).groups) };
}

function completed({ choices = [], flagsOf: set, name, summary }: Command, environment: Environment): CompletedCommand {
  return { name, summary, words: choices, flags: flagsOf(set?.(environment).groups ?? []) };
}

function flagsOf(groups: readonly { readonly flags: object }[]): readonly CompletedFlag[] {
  return groups
    .flatMap(({ flags }) => Object.entries<Flag<unknown>>(flags as Record<string, Flag<unknown>>))
    .filter(([, { deprecated, hidden }]) => !hidden && deprecated === undefined)
    .map(([key, { shorthand, type, usage }]) => ({
      name: flagNameOf(key),
      shorthand,
      takesValue: type.bare === undefined,
      values: (type.choices ?? []).filter((value) => value !== ''),
      about: usage.split(/[.:;] /u, 1)[0]?.replace(/\.$/u, '') ?? '',
    }));
}
