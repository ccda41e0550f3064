/** `--help`: the flags under the headings of their groups, in two columns, wrapped. */
import { flagNameOf, type Flag, type FlagGroup } from './flag-group.ts';

/** Longest left column: a flag with a longer name has its text on the next line. */
const LEFT = 46;

export interface HelpOptions {
  /** Width of the terminal. Default: 120. */
  readonly columns?: number | undefined;
  /** Sections between `about` and the flags, each with its line break. Default: none. */
  readonly before?: readonly string[];
}

/** What is accepted for compatibility only is named at the end, without its text. */
export function renderHelp(
  about: string,
  { groups }: { readonly groups: readonly FlagGroup<object>[] },
  { before = [], columns = 120 }: HelpOptions = {},
): string {
  const shown = groups.map(({ title, flags }) => ({
    title,
    flags: Object.entries<Flag<unknown>>(flags as Record<string, Flag<unknown>>).filter(
      ([, flag]) => !flag.hidden && flag.deprecated === undefined,
    ),
  }));
  const sections = shown.map(({ title, flags }) => {
    const rows = flags
      .filter(([, flag]) => !flag.compatibility)
      .map(([key, flag]) => renderFlag(flagNameOf(key), flag, columns));
    return rows.length === 0 ? '' : `${title} flags:\n\n${rows.join('\n')}\n`;
  });
  const accepted = shown.flatMap(({ flags }) => flags.filter(([, flag]) => flag.compatibility));
  if (accepted.length > 0) {
    const names = accepted.map(([key]) => `--${flagNameOf(key)}`).join(', ');
    const lines = wrap(names, columns - 6).map((line) => `      ${line}\n`);
    sections.push(`Flags accepted for compatibility, without an effect:\n\n${lines.join('')}`);
  }
  return [`${wrap(about, columns).join('\n')}\n`, ...before, ...sections]
    .filter((section) => section !== '')
    .join('\n');
}

function renderFlag(name: string, flag: Flag<unknown>, columns: number): string {
  const short = flag.shorthand === undefined ? '    ' : `-${flag.shorthand}, `;
  const word = flag.type.word === '' ? '' : ` ${flag.type.word}`;
  const left = `  ${short}--${name}${word}`;
  const shown = flag.type.format(flag.default);
  const text = shown === '' ? flag.usage : `${flag.usage} (default ${shown})`;
  const [first = '', ...rest] = wrap(text, Math.max(40, columns - LEFT));
  const indent = ' '.repeat(LEFT);
  const head = left.length < LEFT ? `${left.padEnd(LEFT)}${first}` : `${left}\n${indent}${first}`;
  return [head, ...rest.map((line) => indent + line)].join('\n');
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/u)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return line === '' ? lines : [...lines, line];
}
