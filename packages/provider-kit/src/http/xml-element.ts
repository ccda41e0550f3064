/** What `xmlFormat` has read, of which nothing is known before: each step may lead nowhere. */

/** The element at the end of the path; `undefined` where there is none. */
export function xmlChild(element: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (one, name) =>
      typeof one === 'object' && one !== null ? (one as Readonly<Record<string, unknown>>)[name] : undefined,
    element,
  );
}

/** The children of this name, however many: one alone is no list in what was read, and an empty list is an empty text, or `null` in JSON. */
export function xmlChildren(element: unknown, name: string): readonly unknown[] {
  const found = xmlChild(element, name);
  if (found === undefined || found === null || found === '') return [];
  return Array.isArray(found) ? (found as readonly unknown[]) : [found];
}

/** The text of an element, with or without attributes. `undefined`: there is none, or an empty one. */
export function xmlText(element: unknown): string | undefined {
  const text = typeof element === 'object' && element !== null ? xmlChild(element, '#text') : element;
  return typeof text === 'string' && text !== '' ? text : undefined;
}
