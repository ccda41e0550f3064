/** The commands that a program was given: found by their word, and listed for its help. */
import { closestName, FlagError } from '@outrigger/controller-manager';
import type { Command } from './command.ts';

/** Throws a `FlagError` for a word that is no command. */
export function findCommand(name: string, commands: readonly Command[]): Command {
  const found = commands.find((command) => command.name === name);
  if (found) return found;
  const names = commands.map((command) => command.name).toSorted();
  const near = closestName(name, names);
  const others = names.length === 0 ? 'this program has none' : `the commands are ${names.join(', ')}`;
  const hint = near === undefined ? others : `did you mean ${near}?`;
  throw new FlagError('unexpected-argument', `no command ${JSON.stringify(name)}; ${hint}`);
}

/** For `--help`: a line for each, in the order of their names. */
export function renderCommands(commands: readonly Command[]): string {
  if (commands.length === 0) return 'Commands: outrigger --help\n';
  const width = Math.max(...commands.map(({ name }) => name.length));
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}\n`).toSorted();
  return `Commands (outrigger COMMAND --help):\n\n${lines.join('')}`;
}
