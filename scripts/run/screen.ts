/** How `make run` talks: lines, columns, colours where the terminal has them. */

export interface Screen {
  line(text?: string): void;
  /** `bold` for what matters, `dim` for what may be skipped, `green` and `red` for good and bad ends. */
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly green: (text: string) => string;
  readonly red: (text: string) => string;
}

interface Terminal {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/** Colours on a terminal only, and never with NO_COLOR (https://no-color.org). */
export function createScreen(output: Terminal, env: Readonly<Record<string, string | undefined>>): Screen {
  const colours = output.isTTY === true && !env['NO_COLOR'];
  const paint =
    (on: number, off: number) =>
    (text: string): string =>
      colours ? `\u001B[${on}m${text}\u001B[${off}m` : text;
  return {
    line: (text = '') => void output.write(`${text}\n`),
    bold: paint(1, 22),
    dim: paint(2, 22),
    green: paint(32, 39),
    red: paint(31, 39),
  };
}

/** Columns as wide as their widest cell, two spaces apart. */
export function renderTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** `0.123 s`, right-aligned for a column of them. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(3)} s`.padStart(8);
}

/** Sentences joined to lines of at most `width` characters; one that is longer has a line of its own. */
export function wrap(sentences: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const sentence of sentences) {
    const last = lines.at(-1);
    if (last !== undefined && `${last}; ${sentence}`.length <= width) lines[lines.length - 1] = `${last}; ${sentence}`;
    else lines.push(sentence);
  }
  return lines;
}
