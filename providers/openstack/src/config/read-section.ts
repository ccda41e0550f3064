/** From the lines of one section to its part of the config, by the table of its keys. */
import { didYouMean, type GcfgEntry } from '@outrigger/provider-kit';
import type { Section, ServedKey, UnservedKey } from './cloud-conf-keys.ts';
import { BadValue } from './value-kinds.ts';

/** Where messages about a line go, and under which name its file goes in them. */
export interface Reporter {
  /** Throws. */
  refuse(line: number, why: string): never;
  warn(line: number, why: string): void;
}

/** What the lines set, the defaults elsewhere; and which members a line has set. */
export interface ReadSection<S> {
  readonly values: S;
  readonly set: ReadonlySet<keyof S>;
}

/** `entries`: those of this section, headers left out or not. */
export function readSection<S>(section: Section<S>, entries: readonly GcfgEntry[], reporter: Reporter): ReadSection<S> {
  // The table's type ties each member to the type of its key; here, one line is as good as another.
  const keys = section.keys as Readonly<Record<string, ServedKey<unknown>>>;
  const values = Object.fromEntries(Object.entries(keys).map(([member, { byDefault }]) => [member, byDefault]));
  const set = new Set<string>();
  for (const entry of entries) {
    if (entry.key === undefined) continue;
    const key = entry.key.toLowerCase();
    const of = `${nameOf(entry)} ${key}`;
    const [member, served] = Object.entries(keys).find(([, one]) => one.key === key) ?? [];
    const unserved = section.unserved.find((one) => one.key === key);
    if (member !== undefined && served) {
      values[member] = readValue(served, entry, values[member], of, reporter);
      set.add(member);
    } else if (unserved) reportUnserved(unserved, entry, of, reporter);
    else {
      const known = [...Object.values(keys), ...section.unserved].map((one) => one.key);
      reporter.warn(entry.line, `${of}: there is no such key${didYouMean(key, known)}; it is ignored`);
    }
  }
  return { values: values as S, set: set as ReadonlySet<string> as ReadonlySet<keyof S> };
}

function readValue(
  { kind }: ServedKey<unknown>,
  { value, line }: GcfgEntry,
  before: unknown,
  of: string,
  reporter: Reporter,
): unknown {
  try {
    return kind.read(value, before, (why) => reporter.warn(line, `${of}: ${why}`));
  } catch (error) {
    if (!(error instanceof BadValue)) throw error;
    return reporter.refuse(line, `${of} ${error.message}`);
  }
}

/** `[LoadBalancerClass "gold"]`. */
export function nameOf({ section, subsection }: Pick<GcfgEntry, 'section' | 'subsection'>): string {
  return subsection === undefined ? `[${section}]` : `[${section} ${JSON.stringify(subsection)}]`;
}

function reportUnserved(
  { status, harmless, why }: UnservedKey,
  entry: GcfgEntry,
  of: string,
  reporter: Reporter,
): void {
  if (harmless.includes(entry.value ?? '')) return;
  if (status === 'refused') reporter.refuse(entry.line, `${of} is not supported: ${why}`);
  reporter.warn(entry.line, `${of} is ignored: ${why}`);
}
