/** `outrigger version`: which build this is. */
import { oneOf, type FlagGroup } from '@outrigger/controller-manager';
import { version, versionInfo } from '../program/version.ts';
import { defineCommand, type Command } from './command.ts';

interface VersionOptions {
  output: 'text' | 'json';
}

const versionFlags: FlagGroup<VersionOptions> = {
  title: 'Version',
  flags: {
    output: {
      type: oneOf(['text', 'json']),
      default: 'text',
      shorthand: 'o',
      usage: "'text', or 'json' as /version serves it.",
    },
  },
};

export const versionCommand: Command = defineCommand({
  name: 'version',
  summary: 'Prints the version.',
  flags: [versionFlags],
  run: (parsed, { stdout }) => {
    const { output } = parsed.of(versionFlags);
    stdout.write(output === 'json' ? `${JSON.stringify(versionInfo(), undefined, 2)}\n` : `Outrigger ${version}\n`);
    return Promise.resolve(0);
  },
});
