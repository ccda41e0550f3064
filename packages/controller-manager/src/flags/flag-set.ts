/**
 * Reads a command line as Go's pflag does, over the tokens of `node:util` `parseArgs`: `--x=false`, `_` for `-`, lists,
 * maps, durations, shorthands; `--no-x` is not a thing. Nothing is done with the values here: a bad command line must be
 * refused before anything is touched.
 */
import { parseArgs, type ParseArgsOptionsConfig } from 'node:util';
import { closestName } from './closest-name.ts';
import { FlagError } from './flag-error.ts';
import { flagNameOf, type Flag, type FlagGroup } from './flag-group.ts';

type AnyGroup = FlagGroup<Record<string, unknown>>;

interface Entry {
  readonly name: string;
  readonly key: string;
  readonly flag: Flag<unknown>;
  readonly group: AnyGroup;
}

/** A value that a file gives to a flag. */
export interface FlagPreset {
  readonly flag: string;
  readonly text: string;
  /** For messages: file, line and key. */
  readonly where: string;
}

/** What a command line said. */
export interface ParsedFlags {
  /** All options of the group, defaults included. Throws a `TypeError` for a group that the set does not have. */
  of<O extends object>(group: FlagGroup<O>): Readonly<O>;
  /** The value of one flag, by its name. */
  valueOf(name: string): unknown;
  /** Whether the flag was on the command line: a default may depend on that. Takes the flag's name. */
  isSet(name: string): boolean;
  /** What is no flag, in its order. Empty where the set takes no words. */
  readonly words: readonly string[];
  /** One line for each deprecated flag that was used. */
  readonly warnings: readonly string[];
}

export interface FlagSetOptions {
  /** Words between and after the flags are for the caller. Default: false, they are refused. */
  readonly takesWords?: boolean;
}

export class FlagSet {
  readonly groups: readonly AnyGroup[];
  readonly #takesWords: boolean;
  readonly #entries = new Map<string, Entry>();
  readonly #shorthands = new Map<string, Entry>();

  /** Throws a `TypeError` when two flags share a name or a shorthand. */
  constructor(groups: readonly FlagGroup<object>[], { takesWords = false }: FlagSetOptions = {}) {
    this.#takesWords = takesWords;
    this.groups = groups as unknown as readonly AnyGroup[];
    for (const group of this.groups) {
      for (const [key, flag] of Object.entries(group.flags)) this.#add({ name: flagNameOf(key), key, flag, group });
    }
  }

  /** The names of all flags, in order of the groups. */
  get names(): readonly string[] {
    return [...this.#entries.keys()];
  }

  /**
   * `args` without the program's name. `presets` take the place of defaults: whatever `args` say wins. Throws a `FlagError`
   * at the first thing that is wrong.
   */
  parse(args: readonly string[], presets: readonly FlagPreset[] = []): ParsedFlags {
    const preset = new Map(presets.map((each): [Entry, unknown] => this.#preset(each)));
    const values = new Map<Entry, unknown>();
    const words: string[] = [];
    for (const token of this.#tokens(args)) {
      if (token.kind === 'option-terminator') continue;
      if (token.kind === 'positional') {
        words.push(token.value);
        if (this.#takesWords) continue;
        throw new FlagError('unexpected-argument', `unexpected argument ${JSON.stringify(token.value)}: flags only`);
      }
      const entry = this.#find(token.name, token.rawName);
      const text = this.#textOf(entry, token.rawName, token.value, token.inlineValue ?? false);
      try {
        values.set(entry, entry.flag.type.parse(text, values.get(entry)));
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new FlagError('invalid-flag', `invalid value ${JSON.stringify(text)} for --${entry.name}: ${why}`);
      }
    }
    return new Parsed(this.groups, { preset, values, words }, this.#entries);
  }

  /** The flag of this name, without the hyphens. */
  find(name: string): Flag<unknown> | undefined {
    return this.#entries.get(name)?.flag;
  }

  #preset({ flag: name, text, where }: FlagPreset): [Entry, unknown] {
    const entry = this.#entries.get(name);
    if (entry === undefined) throw new TypeError(`--${name} is not in this set`);
    try {
      return [entry, entry.flag.type.parse(text)];
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new FlagError('invalid-flag', `${where}: invalid value ${JSON.stringify(text)}: ${why}`);
    }
  }

  #add(entry: Entry): void {
    const { shorthand } = entry.flag;
    if (this.#entries.has(entry.name)) throw new TypeError(`--${entry.name} is defined twice`);
    this.#entries.set(entry.name, entry);
    if (shorthand === undefined) return;
    if (this.#shorthands.has(shorthand)) throw new TypeError(`-${shorthand} is defined twice`);
    this.#shorthands.set(shorthand, entry);
  }

  #tokens(args: readonly string[]): ReturnType<typeof tokenise> {
    const options: ParseArgsOptionsConfig = {};
    for (const { name, flag } of this.#entries.values()) {
      options[name] = {
        type: flag.type.bare === undefined ? 'string' : 'boolean',
        ...(flag.shorthand === undefined ? {} : { short: flag.shorthand }),
      };
    }
    // `--kube_api_qps` and any mixture: known to parseArgs under the spelling that was used, so that no value is changed.
    for (const arg of args) {
      const spelling = /^--([^=]+)/u.exec(arg)?.[1];
      const entry = spelling === undefined ? undefined : this.#entries.get(spelling.replaceAll('_', '-'));
      if (spelling !== undefined && entry !== undefined && spelling !== entry.name) {
        options[spelling] = { type: entry.flag.type.bare === undefined ? 'string' : 'boolean' };
      }
    }
    return tokenise(args, options);
  }

  #find(name: string, rawName: string): Entry {
    const known = this.#entries.get(name.replaceAll('_', '-'));
    if (known !== undefined) return known;
    const positive = name.startsWith('no-') ? this.#entries.get(name.slice('no-'.length)) : undefined;
    if (positive?.flag.type.bare !== undefined) {
      throw new FlagError('unknown-flag', `unknown flag ${rawName}; write --${positive.name}=false`);
    }
    const visible = [...this.#entries.values()].filter(({ flag }) => !flag.hidden).map(({ name }) => name);
    const near = rawName.startsWith('--') ? closestName(name, visible) : undefined;
    const hint = near === undefined ? 'see --help' : `did you mean --${near}?`;
    throw new FlagError('unknown-flag', `unknown flag ${rawName}; ${hint}`);
  }

  #textOf(entry: Entry, rawName: string, value: string | undefined, inline: boolean): string {
    // `-v=2`: parseArgs takes all after the letter as the value, pflag takes the `=` away.
    if (value !== undefined) return inline && !rawName.startsWith('--') ? value.replace(/^=/u, '') : value;
    if (entry.flag.type.bare !== undefined) return entry.flag.type.bare;
    throw new FlagError('invalid-flag', `--${entry.name} needs a value (${entry.flag.type.word})`);
  }
}

function tokenise(
  args: readonly string[],
  options: ParseArgsOptionsConfig,
): readonly (
  | { kind: 'option'; name: string; rawName: string; value: string | undefined; inlineValue: boolean | undefined }
  | { kind: 'positional'; value: string }
  | { kind: 'option-terminator' }
)[] {
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true }).tokens;
}

interface ParsedTokens {
  readonly preset: ReadonlyMap<Entry, unknown>;
  readonly values: ReadonlyMap<Entry, unknown>;
  readonly words: readonly string[];
}

class Parsed implements ParsedFlags {
  readonly words: readonly string[];
  readonly warnings: readonly string[];
  readonly #options = new Map<unknown, Readonly<Record<string, unknown>>>();
  readonly #set: ReadonlySet<string>;
  readonly #entries: ReadonlyMap<string, Entry>;

  constructor(
    groups: readonly AnyGroup[],
    { preset, values, words }: ParsedTokens,
    entries: ReadonlyMap<string, Entry>,
  ) {
    for (const group of groups) {
      const defaults = Object.entries(group.flags).map(([key, flag]): [string, unknown] => [key, flag.default]);
      this.#options.set(group, Object.fromEntries(defaults));
    }
    for (const [entry, value] of [...preset, ...values]) {
      this.#options.set(entry.group, { ...this.#options.get(entry.group), [entry.key]: value });
    }
    this.words = words;
    this.#entries = entries;
    this.#set = new Set([...values.keys()].map(({ name }) => name));
    this.warnings = [...entries.values()]
      .filter(({ name, flag }) => flag.deprecated !== undefined && this.#set.has(name))
      .map(({ name, flag }) => `flag --${name} is deprecated: ${flag.deprecated}`);
  }

  of<O extends object>(group: FlagGroup<O>): Readonly<O> {
    const options = this.#options.get(group);
    if (options === undefined) throw new TypeError(`flag group "${group.title}" is not in this set`);
    return options as Readonly<O>;
  }

  valueOf(name: string): unknown {
    const entry = this.#entries.get(name);
    return entry && this.#options.get(entry.group)?.[entry.key];
  }

  isSet(name: string): boolean {
    return this.#set.has(name);
  }
}
