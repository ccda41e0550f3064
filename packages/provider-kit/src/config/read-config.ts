/** A provider's configuration, read by its schema: what is wrong is one line with file, line and key. */
import { CloudError, type ConfigText, type ProviderHost } from '@outrigger/cloud-provider';
import { didYouMean } from './closest-name.ts';
import { isKey, isNamed, isUnused, type ConfigKey, type ConfigOf, type ConfigSchema } from './config-schema.ts';
import { ConfigSyntaxError } from './config-syntax-error.ts';
import { readGcfg, readYaml, type Found } from './config-text.ts';
import { shown, type ValueKind } from './value-kinds.ts';

export interface ReadConfigOptions {
  /** The provider's name, for messages. */
  readonly provider: string;
  /** `gcfg`: the INI dialect of providers in Go, where of a key that is repeated the last counts. Default: `yaml`, which JSON is too. */
  readonly format?: 'yaml' | 'gcfg';
  /** Told of each secret. Default: nobody is, as in `checkConfig`, where there is no host yet. */
  readonly host?: Pick<ProviderHost, 'redact'>;
  /** Takes a line for a key that there is not, and one for all keys that are `unused`. Default: the first is refused. */
  readonly warn?: (message: string) => void;
}

/** Throws `configuration` with one line for what a person has to correct. No value of a secret key is in it. */
export function readConfig<const S extends ConfigSchema>(
  schema: S,
  config: ConfigText | undefined,
  options: ReadConfigOptions,
): ConfigOf<S> {
  const { format = 'yaml', provider } = options;
  if (!config) {
    throw new CloudError(
      'configuration',
      `the provider ${provider} needs its configuration: name it with --cloud-config`,
    );
  }
  const reader = new Reader(config.fileName, options);
  let found: Found;
  try {
    found = format === 'gcfg' ? readGcfg(config.text) : readYaml(config.text);
  } catch (error) {
    if (!(error instanceof ConfigSyntaxError)) throw error;
    throw reader.refusal(error.line, error.message);
  }
  // By the schema's type each member gives what `ConfigOf` says of it.
  const read = reader.section(schema, found, '') as ConfigOf<S>;
  const unused = [...reader.unused].join(', ');
  if (unused !== '') options.warn?.(`${config.fileName}: without effect here: ${unused}`);
  return read;
}

class Reader {
  /** Keys that were set and have no effect. */
  readonly unused: Set<string> = new Set();
  readonly #file: string;
  readonly #options: ReadConfigOptions;

  constructor(file: string, options: ReadConfigOptions) {
    this.#file = file;
    this.#options = options;
  }

  refusal(line: number, why: string): CloudError {
    return new CloudError('configuration', `${this.#file}:${line}: ${why}`);
  }

  /** `found` is `undefined` where the file has no such section. */
  section(schema: ConfigSchema, found: Found | undefined, path: string): Readonly<Record<string, unknown>> {
    const isNothing = found === undefined || (found.kind === 'value' && (found.value === null || found.value === ''));
    if (!isNothing && found.kind !== 'map')
      throw this.refusal(found.line, `${path || 'the file'} must be a map of keys`);
    const members = isNothing ? [] : (found as Found & { kind: 'map' }).members;
    const seen = new Map<string, Found>();
    for (const { found: value, name } of members) {
      const known = Object.keys(schema).find((one) => plain(one) === plain(name));
      if (known === undefined) {
        const hint = didYouMean(name, this.#spelt(Object.keys(schema)));
        this.#unknown(value.line, `${join(path, name)}: there is no such key${hint}`);
      } else if (seen.has(known)) throw this.refusal(value.line, `${join(path, name)} is set twice`);
      else seen.set(known, value);
    }
    const read = Object.entries(schema).map(([name, member]) => {
      const [value, at] = [seen.get(name), join(path, name)];
      if (isKey(member)) return [name, this.#key(member, value, at, found?.line ?? 1)];
      return [name, isNamed(member) ? this.#named(member.sections, value, at) : this.section(member, value, at)];
    });
    return Object.fromEntries(read) as Readonly<Record<string, unknown>>;
  }

  #named(schema: ConfigSchema, found: Found | undefined, path: string): ReadonlyMap<string, unknown> {
    if (found === undefined) return new Map();
    if (found.kind !== 'map') throw this.refusal(found.line, `${path} must be a map of names`);
    return new Map(found.members.map((one) => [one.name, this.section(schema, one.found, join(path, one.name))]));
  }

  #key(key: ConfigKey<unknown>, found: Found | undefined, path: string, line: number): unknown {
    const { byDefault, isRequired, isSecret, kind, meaning } = key;
    const value = found && this.#valueOf(found, kind);
    if (!found || value === null || value === '') {
      if (isRequired) throw this.refusal(found?.line ?? line, `${path} is needed: ${meaning}`);
      return byDefault;
    }
    const read = kind.read(value);
    if (read === undefined) {
      throw this.refusal(found.line, `${path} must be ${kind.name}${isSecret ? '' : `, not ${shown(value)}`}`);
    }
    if (isUnused(key)) this.unused.add(path);
    if (isSecret) for (const one of Array.isArray(read) ? read : [read]) this.#options.host?.redact(String(one));
    return read;
  }

  /** Of a key of gcfg that is repeated the last counts, as there; of a list in YAML none. */
  #valueOf(found: Found, { isList, isText }: ValueKind<unknown>): unknown {
    const valueIn = (one: Found): unknown => (one.kind === 'value' ? (isText && one.source) || one.value : {});
    if (found.kind !== 'list') return valueIn(found);
    const items = found.items.map(valueIn);
    if (isList) return items;
    return this.#options.format === 'gcfg' ? items.at(-1) : items;
  }

  /** As the format's users write keys. */
  #spelt(names: readonly string[]): readonly string[] {
    if (this.#options.format !== 'gcfg') return names;
    return names.map((name) => name.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`));
  }

  #unknown(line: number, what: string): void {
    const { warn } = this.#options;
    if (!warn) throw this.refusal(line, what);
    warn(`${this.#file}:${line}: ${what}; it is ignored`);
  }
}

function plain(name: string): string {
  return name.replaceAll(/[-_]/gu, '').toLowerCase();
}

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
