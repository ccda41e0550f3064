/** A bearer token that all requests share: got when it is first needed, renewed before it expires and when the cloud refuses it. */
import { isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import type { HttpClientOptions } from './http-client.ts';

export interface FetchedToken {
  readonly value: string;
  /** Milliseconds since the Unix epoch. Default: it never expires by itself. */
  readonly expiresAt?: number;
}

export interface TokenCredentialsOptions {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'redact'>;
  /** Asks for a new one, with the call that it is given: another client than the one that these are the credentials of. */
  readonly fetch: (call: CallContext) => Promise<FetchedToken>;
  /** Default: `authorization: Bearer …`. */
  readonly headers?: (token: string) => Readonly<Record<string, string>>;
  /** Milliseconds before its end from which on it is renewed, while it still serves; at most half of its life. Default: 60,000. */
  readonly renewBeforeMs?: number;
  /**
   * Milliseconds for which nobody asks again after the credentials were refused; doubled each time in a row, to an hour at most. For
   * services that lock an account after a few attempts. Default: 30,000 each time.
   */
  readonly refusedForMs?: number;
}

interface KeptToken extends FetchedToken {
  readonly renewAt: number;
}

/** So long nobody asks again after the credentials were refused: clouds lock accounts that are tried often. */
const REFUSED_FOR_MS = 30_000;
const LONGEST_REFUSED_MS = 3_600_000;
/** So long after a renewal ahead of time has failed, the next one waits. */
const EARLY_AGAIN_MS = 10_000;

/**
 * For `HttpClientOptions.credentials`. However many requests wait, one asks for the token, in a call of its own: who gives up waiting takes
 * it from nobody else. A renewal ahead of time holds nobody up, and its failure is told to nobody: the old token serves until it ends.
 */
export function tokenCredentials({
  fetch,
  headers = (token) => ({ authorization: `Bearer ${token}` }),
  host,
  refusedForMs,
  renewBeforeMs = 60_000,
}: TokenCredentialsOptions): NonNullable<HttpClientOptions['credentials']> {
  let token: KeptToken | undefined;
  let flight: Promise<KeptToken> | undefined;
  let refusal: { readonly error: Error; readonly until: number } | undefined;
  let earlyAgainAt = 0;
  let refusals = 0;

  const ask = async (): Promise<KeptToken> => {
    try {
      // Those who wait may be deciding about a deletion: this must not come after them.
      const fetched = await fetch(host.callContext({ priority: 'critical' }));
      host.redact(fetched.value, { rotating: true });
      const life = (fetched.expiresAt ?? Infinity) - host.clock.now();
      token = { ...fetched, renewAt: host.clock.now() + life - Math.min(renewBeforeMs, life / 2) };
      refusal = undefined;
      refusals = 0;
      return token;
    } catch (error) {
      if (isCloudError(error, 'unauthenticated') || isCloudError(error, 'configuration')) {
        const wait = refusedForMs === undefined ? REFUSED_FOR_MS : refusedForMs * 2 ** refusals++;
        refusal = { error, until: host.clock.now() + Math.min(wait, LONGEST_REFUSED_MS) };
      }
      throw error;
    } finally {
      flight = undefined;
    }
  };
  const renew = (): Promise<KeptToken> => {
    if (refusal && host.clock.now() < refusal.until) return Promise.reject(refusal.error);
    flight ??= ask();
    return flight;
  };

  return async (call, refused, last) => {
    const now = host.clock.now();
    // Whoever was refused with an older one than there is by now finds the newer one.
    if (refused && token && last && isSame(headers(token.value), last)) token = undefined;
    if (!token || now >= (token.expiresAt ?? Infinity)) return headers((await untilAborted(renew, call)).value);
    if (now >= token.renewAt && now >= earlyAgainAt) {
      earlyAgainAt = now + EARLY_AGAIN_MS;
      renew().catch(() => {});
    }
    return headers(token.value);
  };
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  return Object.entries(a).every(([name, value]) => b[name] === value);
}

/** The answer, or the call's own reason when it ends first. */
async function untilAborted<T>(ask: () => Promise<T>, { signal }: CallContext): Promise<T> {
  // Before it is asked: nobody would hear that it failed.
  signal.throwIfAborted();
  let end: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true });
  });
  try {
    return await Promise.race([ask(), aborted]);
  } finally {
    if (end) signal.removeEventListener('abort', end);
  }
}
