// The contract (`cloud-provider`) has another, for answers of clouds: neither package may import the other.
/**
 * How long an answer asks to wait before the next try, in milliseconds; `undefined` when it does not say, or nothing
 * that makes sense. `Retry-After` is seconds or a date (RFC 9110 §10.2.3); API servers send seconds, proxies before
 * them either. A date counts from the answer's own `Date`, so that a clock that runs apart from the server's does no harm.
 */
export function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const after = headers['retry-after'];
  if (after === undefined) return undefined;
  if (/^\d+$/.test(after)) return Number(after) * 1000;
  // Every date of HTTP begins with a weekday; `Date.parse` also takes "-1" for one.
  if (!/^[A-Z][a-z]{2,8},? /.test(after)) return undefined;
  const ms = Date.parse(after) - Date.parse(headers['date'] ?? '');
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}
