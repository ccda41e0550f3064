/** What the budget reads of an answer that looks like a `fetch` Response, whichever HTTP library made it. */

interface Headers {
  get(name: string): string | null;
}

/** The status of a Response; `undefined` for anything else. */
export function statusOf(answer: unknown): number | undefined {
  return headersOf(answer) ? (answer as { status: number }).status : undefined;
}

/** `Retry-After` in milliseconds, from seconds or an HTTP date; `undefined` when it is missing or makes no sense. */
export function retryAfterOf(answer: unknown, now: number): number | undefined {
  const value = headersOf(answer)?.get('retry-after')?.trim();
  if (!value) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

function headersOf(answer: unknown): Headers | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { status, headers } = answer as { status?: unknown; headers?: { get?: unknown } };
  if (typeof status !== 'number' || typeof headers !== 'object' || typeof headers?.get !== 'function') return undefined;
  return headers as Headers;
}
