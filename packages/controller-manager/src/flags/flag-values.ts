/** The value of every flag that is in force, for `/flagz`. */
import { flagNameOf } from './flag-group.ts';
import type { FlagSet, ParsedFlags } from './flag-set.ts';

/** Name and value, sorted by name. Hidden flags too: what is in force is no secret to whoever may ask. */
export function listFlagValues(
  flags: FlagSet,
  parsed: ParsedFlags,
): readonly (readonly [name: string, value: string])[] {
  return flags.groups
    .flatMap((group) => {
      const values = parsed.of(group);
      return Object.entries(group.flags).map(([key, { type }]): [string, string] => {
        const value = values[key];
        // `--help` shows no default where a value is empty; here it is shown as it would be written.
        const text = typeof value === 'boolean' || typeof value === 'string' ? String(value) : type.format(value);
        return [flagNameOf(key), text === '' && value === 0 ? '0' : text];
      });
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}
