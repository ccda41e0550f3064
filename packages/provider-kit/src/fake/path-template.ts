/** Paths with braces, and which of them a path fits best. */

interface Template<T> {
  readonly target: T;
  readonly method: string;
  readonly pattern: RegExp;
  readonly names: readonly string[];
  /** Letters outside of braces: of two that fit, the more exact one counts. */
  readonly literal: number;
}

export interface MatchedPath<T> {
  readonly target: T;
  readonly params: Readonly<Record<string, string>>;
}

const BRACES = /\{(?<plus>\+?)(?<name>[^}]+)\}/gu;

export class PathTemplates<T extends { readonly method: string; readonly path: string }> {
  readonly #templates: readonly Template<T>[];

  constructor(targets: readonly T[]) {
    this.#templates = targets.map(compile).toSorted((a, b) => b.literal - a.literal);
  }

  /** The best that fits first. */
  match(method: string, path: string): readonly MatchedPath<T>[] {
    return this.#templates.flatMap((template) => {
      const found = template.method === method ? template.pattern.exec(path) : null;
      if (!found) return [];
      const params = template.names.map((name, index) => [name, decode(found[index + 1] ?? '')] as const);
      return [{ target: template.target, params: Object.fromEntries(params) }];
    });
  }
}

function compile<T extends { readonly method: string; readonly path: string }>(target: T): Template<T> {
  const { method, path } = target;
  const names: string[] = [];
  let literal = 0;
  let pattern = '';
  let end = 0;
  for (const match of path.matchAll(BRACES)) {
    const before = path.slice(end, match.index);
    literal += before.length;
    pattern += escaped(before) + (match.groups?.['plus'] === '+' ? '(.+?)' : '([^/]+?)');
    names.push(match.groups?.['name'] ?? '');
    end = match.index + match[0].length;
  }
  const rest = path.slice(end);
  return {
    target,
    method,
    names,
    literal: literal + rest.length,
    pattern: new RegExp(`^${pattern}${escaped(rest)}$`, 'u'),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, String.raw`\$&`);
}
