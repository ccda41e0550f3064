/** What the lists of Octavia and of Neutron have alike: filters by tags, and the fields that are asked for. */

/** By the name in the query: of the tags that a thing has, and those that are asked for. */
export const TAG_FILTERS: Readonly<Record<string, (have: readonly string[], asked: readonly string[]) => boolean>> = {
  tags: (have, asked) => asked.every((tag) => have.includes(tag)),
  'tags-any': (have, asked) => asked.some((tag) => have.includes(tag)),
  'not-tags': (have, asked) => !asked.every((tag) => have.includes(tag)),
  'not-tags-any': (have, asked) => !asked.some((tag) => have.includes(tag)),
};

export function pickFields(item: object, fields: readonly string[]): object {
  const values = item as Readonly<Record<string, unknown>>;
  return Object.fromEntries(fields.flatMap((name) => (name in values ? [[name, values[name]]] : [])));
}
