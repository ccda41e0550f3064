/** `--config`: a CloudControllerManagerConfiguration in YAML or JSON. Strict: what is not known is refused with file, line and key. */
import { readFile } from 'node:fs/promises';
import { FlagError, type FlagPreset, type FlagSet } from '@outrigger/controller-manager';
import { API_GROUP, API_VERSION, configKeys, KIND, toLowerCamelCase, type ConfigKey } from './config-keys.ts';

type Tree = { readonly [name: string]: Tree | ConfigKey };

/** Rejects with a `FlagError`. Loads the YAML library, which a program without `--config` does not pay for. */
export async function readConfigFile(path: string, flags: FlagSet): Promise<readonly FlagPreset[]> {
  const { isAlias, isMap, isScalar, LineCounter, parseDocument } = await import('yaml');
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const why = error.code === 'ENOENT' ? 'there is no such file' : 'it cannot be read';
    throw new FlagError('invalid-flag', `--config=${path}: ${why}`);
  });
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const refuse = (offset: number | undefined, what: string): FlagError => {
    const line = offset === undefined ? '' : `:${lines.linePos(offset).line}`;
    return new FlagError('invalid-flag', `${path}${line}: ${what}`);
  };
  const [broken] = document.errors;
  if (broken) throw refuse(broken.pos[0], `not YAML: ${broken.message}`);

  const presets: FlagPreset[] = [];
  const offsetOf = (node: unknown): number | undefined => (node as { range?: [number] } | null)?.range?.[0];
  const walk = (node: unknown, tree: Tree, at: readonly string[]): void => {
    if (isAlias(node)) throw refuse(offsetOf(node), `${at.join('.')}: aliases are not read`);
    if (!isMap(node)) throw refuse(offsetOf(node), `${at.join('.') || 'the file'} must be a mapping`);
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const where = [...at, name].join('.');
      const canonical = toLowerCamelCase(name);
      const inner = Object.hasOwn(tree, canonical) ? tree[canonical] : undefined;
      if (inner === undefined) throw refuse(offsetOf(key), `${where}: unknown key`);
      if (seen.has(canonical)) throw refuse(offsetOf(key), `${where}: is there twice`);
      seen.add(canonical);
      if (isScalar(value) && value.value === null) continue;
      if (!isConfigKey(inner)) {
        walk(value, inner, [...at, name]);
        continue;
      }
      const flag = inner.flag === undefined ? undefined : flags.find(inner.flag);
      // Fields that upstream shows and nothing sets are passed over, so that what /configz prints can be read.
      if (inner.flag === undefined || flag === undefined) continue;
      const shown = textOf((value as { toJSON(): unknown } | null)?.toJSON(), flag.type.word);
      if (shown === undefined)
        throw refuse(offsetOf(value), `${where}: must be ${KINDS[flag.type.word] ?? 'a string'}`);
      // A period that is not set is shown as 0s, which the flag itself may refuse.
      if (shown === '0s' && flag.default === 0) continue;
      presets.push({
        flag: inner.flag,
        text: shown,
        where: `${path}:${lines.linePos(offsetOf(value) ?? 0).line}: ${where}`,
      });
    }
  };

  const wrapped = document.getIn([API_GROUP], true);
  const root = wrapped === undefined ? document.contents : wrapped;
  if (wrapped !== undefined && isMap(document.contents) && document.contents.items.length > 1) {
    throw refuse(0, `${API_GROUP} must stand alone`);
  }
  if (!isMap(root)) throw refuse(0, 'the file must be a mapping');
  for (const [name, expected] of [
    ['apiVersion', API_VERSION],
    ['kind', KIND],
  ] as const) {
    const found = root.get(name);
    if (found !== expected) throw refuse(offsetOf(root.get(name, true)) ?? 0, `${name} must be ${expected}`);
  }
  walk(root, TREE, []);
  return presets;
}

const KINDS: Readonly<Record<string, string>> = {
  '': 'true or false',
  int: 'a number',
  float: 'a number',
  strings: 'a list of strings',
  duration: 'a duration such as 10s',
};

/** As it would stand on the command line; `undefined` for a value of another type. */
function textOf(value: unknown, word: string): string | undefined {
  switch (word) {
    case '':
      return typeof value === 'boolean' ? String(value) : undefined;
    case 'int':
    case 'float':
      return typeof value === 'number' ? String(value) : undefined;
    case 'strings':
      if (!Array.isArray(value) || !value.every((item) => typeof item === 'string' && !item.includes(',')))
        return undefined;
      return value.join(',');
    default:
      return typeof value === 'string' ? value : undefined;
  }
}

function isConfigKey(node: Tree | ConfigKey): node is ConfigKey {
  return Array.isArray(node['path']);
}

function treeOf(keys: readonly ConfigKey[]): Tree {
  const root: Record<string, Tree | ConfigKey> = {
    apiVersion: { path: ['apiVersion'] },
    kind: { path: ['kind'] },
  };
  for (const each of keys) {
    let at: Record<string, Tree | ConfigKey> = root;
    const names = each.path.map(toLowerCamelCase);
    for (const name of names.slice(0, -1)) at = (at[name] ??= {}) as Record<string, Tree | ConfigKey>;
    at[names.at(-1) ?? ''] = each;
  }
  return root;
}

const TREE: Tree = treeOf(configKeys);
