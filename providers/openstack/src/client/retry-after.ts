/** `Retry-After`: seconds, or an HTTP date. */

/** Milliseconds from `now` (wall clock); `undefined` where it is missing or makes no sense. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+$/u.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
