/** Text of any size from a recipe. By itself, as each thread loads it: fast-check, with which recipes are drawn, takes it a second. */

/** `prefix`, then `unit` as often as fits, then `suffix`. `{n}` in the unit is its number, so that no two are equal. */
export interface Recipe {
  readonly prefix: string;
  readonly unit: string;
  readonly suffix: string;
}

/** The text of about this many characters. */
export function grow({ prefix, unit, suffix }: Recipe, size: number): string {
  const wanted = Math.max(1, size - prefix.length - suffix.length);
  if (!unit.includes('{n}')) return prefix + unit.repeat(Math.ceil(wanted / unit.length)) + suffix;
  const parts: string[] = [];
  for (let length = 0, n = 0; length < wanted; n++) {
    const part = unit.replaceAll('{n}', n.toString(36));
    parts.push(part);
    length += part.length;
  }
  return prefix + parts.join('') + suffix;
}
