/** `--help`: the flags under the headings of their groups, in two columns, wrapped. */
import { flagNameOf, type Flag } from './flag-group.ts';
import type { FlagSet } from './flag-set.ts';

/** Longest left column: a flag with a longer name has its text on the next line. */
const LEFT = 46;

/** `columns`: width of the terminal. Default: 120. */
export function renderHelp(about: string, flags: FlagSet, columns = 120): string {
  const sections = flags.groups.map(({ title, flags }) => {
    const rows = Object.entries(flags)
      .filter(([, flag]) => !flag.hidden && flag.deprecated === undefined)
      .map(([key, flag]) => renderFlag(flagNameOf(key), flag, columns));
    return rows.length === 0 ? '' : `${title} flags:\n\n${rows.join('\n')}\n`;
  });
  return `${wrap(about, columns).join('\n')}\n\n${sections.filter((section) => section !== '').join('\n')}`;
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
