/** Annotations that list pairs: `key=value,key`. */
import { itemsOf } from './annotation-rows.ts';

/** A key without `=` has the empty value. Of a key that stands there twice, the last, as upstream. Values keep what follows a second `=`. */
export function keyValuesOf(text: string | undefined): ReadonlyMap<string, string> {
  const pairs = itemsOf(text).map((item): readonly [string, string] => {
    const at = item.indexOf('=');
    return at < 0 ? [item, ''] : [item.slice(0, at).trim(), item.slice(at + 1).trim()];
  });
  return new Map(pairs.filter(([key]) => key !== ''));
}
