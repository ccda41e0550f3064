/** `-v` and `--vmodule`: how much the parts of the program say. */

/** One `pattern=N` of `--vmodule`. */
export interface VmodulePattern {
  readonly pattern: string;
  readonly level: number;
}

/** Reads `pattern=N,…`; `*` and `?` are wildcards, matched against the component. Throws an `Error` that says what is wrong. */
export function parseVmodule(text: string): readonly VmodulePattern[] {
  return text
    .split(',')
    .filter((item) => item.trim() !== '')
    .map((item) => {
      const [, pattern, level] = /^\s*([^=]+)=(\d+)\s*$/u.exec(item) ?? [];
      if (pattern === undefined) throw new Error(`${JSON.stringify(item)} is not pattern=N`);
      return { pattern: pattern.trim(), level: Number(level) };
    });
}

/** The highest level at which `component` speaks. The first pattern that matches wins, as in klog. */
export function verbosityOf(component: string, level: number, vmodule: readonly VmodulePattern[]): number {
  return vmodule.find(({ pattern }) => toRegExp(pattern).test(component))?.level ?? level;
}

function toRegExp(pattern: string): RegExp {
  const source = pattern
    .replaceAll(/[.+^${}()|[\]\\]/gu, String.raw`\$&`)
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'u');
}
