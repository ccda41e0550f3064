/** What a provider's configuration may hold, as data: it is read by this, and its table of keys is made of it. */
import type { ValueKind } from './value-kinds.ts';

/** One key. */
export interface ConfigKey<T> {
  readonly kind: ValueKind<unknown>;
  readonly meaning: string;
  /** `undefined`, and not `isRequired`: it may be left out. */
  readonly byDefault: T;
  readonly isRequired: boolean;
  /** Its value is shown in no message and no table, and `readConfig` tells it to the host. */
  readonly isSecret: boolean;
}

/** Keys and sections by their names, in camel case. In a file `authUrl` may also be `auth-url`, `auth_url` or `AuthURL`. */
export interface ConfigSchema {
  readonly [name: string]: ConfigKey<unknown> | ConfigSchema | NamedSections<ConfigSchema>;
}

/** Sections of one form with names of the administrator's: `[VirtualCenter "a"]`, or a map of maps. */
export interface NamedSections<S extends ConfigSchema> {
  readonly sections: S;
  readonly meaning: string;
  readonly isNamed: true;
}

/** The config that a schema reads. */
export type ConfigOf<S> = {
  readonly [Name in keyof S]: S[Name] extends ConfigKey<infer T>
    ? T
    : S[Name] extends NamedSections<infer Each>
      ? ReadonlyMap<string, ConfigOf<Each>>
      : ConfigOf<S[Name]>;
};

export function required<T>(kind: ValueKind<T>, meaning: string): ConfigKey<T> {
  // Of a key that is required nobody sees the default.
  return { kind, meaning, byDefault: undefined as T, isRequired: true, isSecret: false };
}

export function optional<T>(kind: ValueKind<T>, meaning: string): ConfigKey<T | undefined>;
export function optional<T>(kind: ValueKind<T>, meaning: string, byDefault: T): ConfigKey<T>;
export function optional<T>(kind: ValueKind<T>, meaning: string, byDefault?: T): ConfigKey<T | undefined> {
  return { kind, meaning, byDefault, isRequired: false, isSecret: false };
}

/** Whatever stands there. */
const anything: ValueKind<true> = { name: '', read: () => true };

/** A key, or a whole section, that a file may have for another program: it has no effect, and `readConfig` warns of it where it is set. */
export function unused(why: string): ConfigKey<true | undefined> {
  return optional(anything, `No effect: ${why}`);
}

export function isUnused({ kind }: ConfigKey<unknown>): boolean {
  return kind === anything;
}

/** Never shown. */
export function secret<T>(key: ConfigKey<T>): ConfigKey<T> {
  return { ...key, isSecret: true };
}

export function named<S extends ConfigSchema>(sections: S, meaning: string): NamedSections<S> {
  return { sections, meaning, isNamed: true };
}

type Member = ConfigSchema[string];

export function isKey(member: Member): member is ConfigKey<unknown> {
  return typeof (member as Partial<ConfigKey<unknown>>).isRequired === 'boolean';
}

export function isNamed(member: Member): member is NamedSections<ConfigSchema> {
  return (member as Partial<NamedSections<ConfigSchema>>).isNamed === true;
}
