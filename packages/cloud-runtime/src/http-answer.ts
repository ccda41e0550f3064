/** What the budget reads of an answer that looks like a `fetch` Response, whichever HTTP library made it. */
import { retryAfterMs } from '@outrigger/cloud-provider';

interface Headers {
  get(name: string): string | null;
}

/** The status of a Response; `undefined` for anything else. */
export function statusOf(answer: unknown): number | undefined {
  return headersOf(answer) ? (answer as { status: number }).status : undefined;
}

/** `Retry-After` in milliseconds; `undefined` when it is missing or makes no sense. */
export function retryAfterOf(answer: unknown, now: number): number | undefined {
  return retryAfterMs(headersOf(answer)?.get('retry-after'), now);
}

function headersOf(answer: unknown): Headers | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined;
  const { status, headers } = answer as { status?: unknown; headers?: { get?: unknown } };
  if (typeof status !== 'number' || typeof headers !== 'object' || typeof headers?.get !== 'function') return undefined;
  return headers as Headers;
}
