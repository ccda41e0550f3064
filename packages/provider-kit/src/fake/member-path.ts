/** Places in JSON: `meta.next`, `targets[].server`. */

/** The values at a path, through each item of its lists. Empty where there is none. */
export function valuesAt(value: unknown, path: string): readonly unknown[] {
  return path.split('.').reduce<readonly unknown[]>(
    (values, segment) => {
      const name = segment.replace(/(?:\[\])+$/u, '');
      const depth = (segment.length - name.length) / 2;
      let found = values.flatMap((one) => memberOf(one, name));
      for (let level = 0; level < depth; level++) found = found.flatMap((one) => (Array.isArray(one) ? one : []));
      return found;
    },
    [value],
  );
}

/** An object that has this value at this path, with no lists in it. */
export function nested(path: string, value: unknown): Readonly<Record<string, unknown>> {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as Readonly<
    Record<string, unknown>
  >;
}

/** Puts the members of one object into another, at every depth. */
export function merged(
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const all = Object.entries(b).map(([name, value]): [string, unknown] => {
    const old = a[name];
    return [name, isObject(old) && isObject(value) ? merged(old, value) : value];
  });
  return { ...a, ...Object.fromEntries(all) };
}

/** A value as text: of an ID, a version, a parameter. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberOf(value: unknown, name: string): readonly unknown[] {
  const found = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return found === undefined || found === null ? [] : [found];
}
