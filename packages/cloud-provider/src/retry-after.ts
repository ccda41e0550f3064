// The client of the API server (`kube`) has another: neither package may import the other, and that one counts a date from the answer's `Date`.
/**
 * How long an answer asks to wait before the next try, by its header `Retry-After`: seconds, or an HTTP date (RFC 9110 §10.2.3).
 * Milliseconds from `now`, the wall clock; 0 for a date that has passed. `undefined` where it is missing or makes no sense.
 */
export function retryAfterMs(header: string | null | undefined, now: number): number | undefined {
  const value = header?.trim() ?? '';
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  // Every date of HTTP begins with a weekday; `Date.parse` also takes "-1" for one.
  if (!/^[A-Z][a-z]{2,8},? /.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
