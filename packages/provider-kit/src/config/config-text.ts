/** From the text of a configuration to what stands in it, each with its line: YAML, JSON or gcfg in one form. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import { ConfigSyntaxError } from './config-syntax-error.ts';
import { parseGcfg } from './gcfg.ts';

export type Found = FoundValue | FoundMap | FoundList;

interface FoundValue {
  readonly kind: 'value';
  readonly line: number;
  /** A text, a number, a boolean, `null`; in gcfg a text, or `true` of a key without `=`. */
  readonly value: unknown;
  /** As it is written, where `value` is a number or a boolean: a password of digits keeps its zeros. */
  readonly source?: string | undefined;
}

interface FoundMap {
  readonly kind: 'map';
  readonly line: number;
  readonly members: readonly { readonly name: string; readonly found: Found }[];
}

interface FoundList {
  readonly kind: 'list';
  readonly line: number;
  readonly items: readonly Found[];
}

/** YAML, or JSON, which is YAML too. Throws `ConfigSyntaxError`. */
export function readYaml(text: string): Found {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number | undefined): number => (offset === undefined ? 1 : lines.linePos(offset).line);
  const [broken] = document.errors;
  if (broken) throw new ConfigSyntaxError(lineAt(broken.pos[0]), `this is no YAML or JSON (${broken.code})`);
  return foundIn(document.contents, { document, lineAt, depth: 0, budget: { left: MOST_NODES } });
}

interface Place {
  readonly document: Document;
  readonly lineAt: (offset: number | undefined) => number;
  readonly depth: number;
  readonly budget: { left: number };
}

/** Deeper than any schema, and a stop for an alias that holds itself. */
const DEEPEST = 20;
/** More than any config has, and a stop for aliases of aliases. */
const MOST_NODES = 100_000;

function foundIn(node: unknown, place: Place): Found {
  const { document, lineAt } = place;
  const line = lineAt((node as { range?: readonly number[] | null } | null)?.range?.[0]);
  if (place.depth > DEEPEST) throw new ConfigSyntaxError(line, 'this is nested too deep');
  if (--place.budget.left < 0) throw new ConfigSyntaxError(line, 'this is too large');
  const below = { ...place, depth: place.depth + 1 };
  if (isAlias(node)) return foundIn(node.resolve(document), below);
  if (isMap(node)) {
    const members = node.items.map(({ key, value }) => {
      const name = isScalar(key) ? String(key.value) : '';
      return { name, found: value === null ? { kind: 'value' as const, line, value: null } : foundIn(value, below) };
    });
    return { kind: 'map', line, members };
  }
  if (isSeq(node)) return { kind: 'list', line, items: node.items.map((item) => foundIn(item, below)) };
  if (!isScalar(node)) return { kind: 'value', line, value: null };
  const { source, value } = node;
  return { kind: 'value', line, value, ...(typeof value !== 'string' && value !== null && { source }) };
}

/** Throws `ConfigSyntaxError`. Sections are maps, those with a name in quotes maps in them; a key that is repeated is a list. */
export function readGcfg(text: string): Found {
  const root = new Section(1);
  for (const { key, line, section, subsection, value } of parseGcfg(text)) {
    const outer = root.inner(section.toLowerCase(), section, line);
    const inner = subsection === undefined ? outer : outer.inner(subsection, subsection, line);
    if (key !== undefined) inner.add(key, { kind: 'value', line, value: value ?? true });
  }
  return root.found();
}

class Section {
  readonly #line: number;
  readonly #values = new Map<string, { readonly name: string; readonly items: FoundValue[] }>();
  readonly #sections = new Map<string, { readonly name: string; readonly section: Section }>();

  constructor(line: number) {
    this.#line = line;
  }

  /** Of one that is there already, more of it. */
  inner(id: string, name: string, line: number): Section {
    const there = this.#sections.get(id) ?? { name, section: new Section(line) };
    this.#sections.set(id, there);
    return there.section;
  }

  add(name: string, value: FoundValue): void {
    const there = this.#values.get(name.toLowerCase()) ?? { name, items: [] };
    this.#values.set(name.toLowerCase(), there);
    there.items.push(value);
  }

  found(): FoundMap {
    const values = [...this.#values.values()].map(({ items, name }) => {
      const line = items.at(-1)?.line ?? this.#line;
      const [only, ...more] = items;
      return { name, found: only && more.length === 0 ? only : { kind: 'list' as const, line, items } };
    });
    const sections = [...this.#sections.values()].map(({ name, section }) => ({ name, found: section.found() }));
    return { kind: 'map', line: this.#line, members: [...values, ...sections] };
  }
}
