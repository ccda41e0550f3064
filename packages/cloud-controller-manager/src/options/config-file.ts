/** `--config`: a CloudControllerManagerConfiguration in YAML or JSON. Strict: what is not known is refused with file, line and key. */
import { parseYamlFile, type FlagPreset, type FlagSet } from '@outrigger/controller-manager';
import {
  API_GROUP,
  API_VERSION,
  configKeys,
  formerKeys,
  KIND,
  ownKeys,
  toLowerCamelCase,
  type ConfigKey,
} from './config-keys.ts';

type Tree = { readonly [name: string]: Tree | ConfigKey };

/**
 * `path`: where `text` is from, for messages. Rejects with a `FlagError`. Loads the YAML library, which a program without `--config`
 * does not pay for.
 */
export async function parseConfigFile(path: string, text: string, flags: FlagSet): Promise<readonly FlagPreset[]> {
  const { document, lineOf, refuse, yaml } = await parseYamlFile(path, text);
  const { isAlias, isMap, isScalar } = yaml;
  const presets: FlagPreset[] = [];
  const walk = (node: unknown, tree: Tree, at: readonly string[]): void => {
    if (isAlias(node)) throw refuse(node, `${at.join('.')}: aliases are not read`);
    if (!isMap(node)) throw refuse(node, `${at.join('.') || 'the file'} must be a mapping`);
    const seen = new Set<string>();
    for (const { key, value } of node.items) {
      const name = isScalar(key) ? String(key.value) : '';
      const where = [...at, name].join('.');
      const canonical = toLowerCamelCase(name);
      const inner = Object.hasOwn(tree, canonical) ? tree[canonical] : undefined;
      if (inner === undefined) throw refuse(key, `${where}: unknown key`);
      if (seen.has(canonical)) throw refuse(key, `${where}: duplicate key`);
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
      if (shown === undefined) throw refuse(value, `${where}: must be ${KINDS[flag.type.word] ?? 'a string'}`);
      // A period that is not set is shown as 0s, which the flag itself may refuse.
      if (shown === '0s' && flag.default === 0) continue;
      presets.push({
        flag: inner.flag,
        text: shown,
        where: `${path}:${lineOf(value)}: ${where}`,
      });
    }
  };

  const wrapped = document.getIn([API_GROUP], true);
  const root = wrapped === undefined ? document.contents : wrapped;
  if (wrapped !== undefined && isMap(document.contents) && document.contents.items.length > 1) {
    throw refuse(undefined, `${API_GROUP} must stand alone`);
  }
  if (!isMap(root)) throw refuse(undefined, 'the file must be a mapping');
  for (const [name, expected] of [
    ['apiVersion', API_VERSION],
    ['kind', KIND],
  ] as const) {
    const found = root.get(name);
    if (found !== expected) throw refuse(root.get(name, true), `${name} must be ${expected}`);
  }
  walk(root, TREE, []);
  return presets;
}

const KINDS: Readonly<Record<string, string>> = {
  '': 'true or false',
  int: 'a number',
  float: 'a number',
  Level: 'a number',
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
    case 'Level':
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

const TREE: Tree = treeOf([...configKeys, ...formerKeys, ...ownKeys]);
