/** One kubeconfig file: read, checked, and still knowing at which line each entry stood. */
import { isScalar, LineCounter, parseDocument, visit, type Document } from 'yaml';
import { ConfigError, type ConfigErrorCode } from './config-error.ts';
import {
  kubeconfigSchema,
  type KubeconfigCluster,
  type KubeconfigContext,
  type KubeconfigText,
  type KubeconfigUser,
} from './kubeconfig-schema.ts';

type Key = string | number;
type Section = 'clusters' | 'users' | 'contexts';

/** An entry of a kubeconfig, which knows where it stands. */
export interface Entry<T> {
  readonly name: string;
  readonly value: T;
  /** The file that it is in. Relative paths in it start at this file's directory. */
  readonly file: string;
  /** `file:line: users[2] "admin": user.key`, for messages. `key` is `a.b`. */
  at(key?: string): string;
}

export interface KubeconfigFile {
  readonly path: string;
  readonly currentContext: string | undefined;
  readonly clusters: ReadonlyMap<string, Entry<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, Entry<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, Entry<KubeconfigContext>>;
}

/** The field of an entry that holds its value: `users[2].user`. */
const SINGULAR = { clusters: 'cluster', users: 'user', contexts: 'context' } as const;

/** Finds the line of a key, or of the nearest parent that is written down. */
class Positions {
  readonly #path: string;
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;

  constructor(path: string, document: Document.Parsed, lines: LineCounter) {
    this.#path = path;
    this.#document = document;
    this.#lines = lines;
  }

  /** `file:line` of the value at `keys`. */
  locate(keys: readonly Key[]): string {
    for (let length = keys.length; length > 0; length--) {
      const node = this.#document.getIn(keys.slice(0, length), true);
      const range = (node as { range?: readonly number[] } | undefined)?.range;
      if (range?.[0] !== undefined) return `${this.#path}:${this.#lines.linePos(range[0]).line}`;
    }
    return this.#path;
  }

  /** `file:line: users[2] "admin": user.exec.apiVersion`. */
  describe(keys: readonly Key[]): string {
    const [section, index, ...rest] = keys;
    const parts = [this.locate(keys)];
    if (typeof section === 'string' && typeof index === 'number') {
      const name: unknown = this.#document.getIn([section, index, 'name']);
      parts.push(`${section}[${index}]${typeof name === 'string' ? ` "${name}"` : ''}`);
      if (rest.length > 0) parts.push(dotted(rest));
    } else if (keys.length > 0) parts.push(dotted(keys));
    return parts.join(': ');
  }
}

function dotted(keys: readonly Key[]): string {
  return keys.map((key, i) => (typeof key === 'number' ? `[${key}]` : i === 0 ? key : `.${key}`)).join('');
}

/**
 * Parses the text of the kubeconfig at `path`.
 * @throws ConfigError `config-invalid` at what is wrong first.
 */
export function parseKubeconfigFile(path: string, text: string): KubeconfigFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken) {
    const line = lines.linePos(broken.pos[0]).line;
    // The parser's message quotes no values, only its own words: a token cannot leak through it.
    throw new ConfigError('config-invalid', `${path}:${line}`, `not YAML (${broken.code})`);
  }
  keepNumbersAsWritten(document);
  const positions = new Positions(path, document, lines);
  const fail = (keys: readonly Key[], message: string, code: ConfigErrorCode = 'config-invalid'): never => {
    throw new ConfigError(code, positions.describe(keys), message);
  };

  const parsed = kubeconfigSchema.safeParse(document.toJS());
  if (!parsed.success) {
    const keys = (parsed.error.issues[0]?.path ?? []) as Key[];
    const what = wrongType(document.getIn(keys));
    return fail(keys, keys.length === 0 ? `${what}: this is not a kubeconfig` : what);
  }
  const content = parsed.data;
  // client-go reads a file of no or another kind as long as its fields fit; a file that says what it is must say this.
  if (content?.kind !== undefined && content.kind !== 'Config') {
    fail(['kind'], `is "${content.kind}", not "Config": this is not a kubeconfig`);
  }
  if (content?.apiVersion !== undefined && content.apiVersion !== 'v1') {
    fail(['apiVersion'], `is "${content.apiVersion}"; only "v1" is known`, 'config-unsupported');
  }

  const collect = <S extends Section, T>(section: S, valueOf: (item: KubeconfigText[S][number]) => T) => {
    const entries = new Map<string, Entry<T>>();
    for (const [index, item] of (content?.[section] ?? []).entries()) {
      const name = item.name ?? '';
      if (entries.has(name)) fail([section, index, 'name'], `duplicate name in ${section}`);
      const at = (key?: string): string =>
        positions.describe([section, index, SINGULAR[section], ...(key === undefined ? [] : key.split('.'))]);
      entries.set(name, { name, value: valueOf(item), file: path, at });
    }
    return entries;
  };
  return {
    path,
    currentContext: content?.['current-context'],
    clusters: collect<'clusters', KubeconfigCluster>('clusters', (item) => item.cluster),
    users: collect<'users', KubeconfigUser>('users', (item) => item.user),
    contexts: collect<'contexts', KubeconfigContext>('contexts', (item) => item.context),
  };
}

/**
 * `token: 12345678901234567890` without quotes is the text that stands there, not the number nearest to it. No field of a kubeconfig is
 * a number; what extensions hold is not ours.
 */
function keepNumbersAsWritten(document: Document.Parsed): void {
  visit(document, {
    Pair: (_, { key }) => (isScalar(key) && key.value === 'extensions' ? visit.SKIP : undefined),
    Scalar: (_, node) => {
      if (typeof node.value === 'number' && node.source !== undefined) node.value = node.source;
    },
  });
}

/** Says what kind of value stands there, never the value: it may be a secret in the wrong place. */
function wrongType(value: unknown): string {
  const items = (value as { items?: readonly unknown[] } | undefined)?.items;
  const kind = items ? 'a list or map' : value === null ? 'null' : `a ${typeof value}`;
  return `has the wrong type (found ${kind})`;
}
