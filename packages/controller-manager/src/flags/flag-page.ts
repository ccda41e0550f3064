/** The flags as a page of the documentation, so that it cannot say anything else than `--help`. */
import { flagNameOf, type Flag } from './flag-group.ts';
import type { FlagSet } from './flag-set.ts';

/** Markdown: a heading and a table for each group. Hidden flags are not on it, deprecated ones say so. */
export function renderFlagPage(flags: FlagSet): string {
  return flags.groups
    .map(({ title, flags }) => {
      const rows = Object.entries(flags)
        .filter(([, flag]) => !flag.hidden)
        .map(([key, flag]) => renderRow(flagNameOf(key), flag));
      return `## ${title}\n\n| Flag | Type | Default | What it does |\n|---|---|---|---|\n${rows.join('\n')}\n`;
    })
    .join('\n');
}

function renderRow(name: string, { default: value, deprecated, shorthand, type, usage }: Flag<unknown>): string {
  const names = shorthand === undefined || shorthand === name ? `\`--${name}\`` : `\`--${name}\`, \`-${shorthand}\``;
  const shown = type.format(value);
  const text = deprecated === undefined ? usage : `Deprecated: ${deprecated}. ${usage}`;
  return `| ${names} | ${type.word || 'bool'} | ${shown === '' ? '' : `\`${shown}\``} | ${text.replaceAll('|', String.raw`\|`).replaceAll('<', '&lt;')} |`;
}
