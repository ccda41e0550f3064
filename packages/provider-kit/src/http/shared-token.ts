/** A token that all requests share: got when it is first needed, renewed before it expires and when the cloud refuses it. */
import { isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { untilAborted } from './until-aborted.ts';

export interface FetchedToken {
  readonly value: string;
  /** Milliseconds since the Unix epoch. Default: it never expires by itself. */
  readonly expiresAt?: number;
  /** From here on a new one is asked for, while this one still serves. Default: as `renewBeforeMs` says. */
  readonly renewAt?: number;
}

export interface SharedTokenOptions<Token extends FetchedToken> {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock' | 'redact'>;
  /** Asks for a new one, with the call that it is given: by another client than the one that these are the credentials of. */
  readonly fetch: (call: CallContext) => Promise<Token>;
  /** Milliseconds before its end from which on it is renewed, while it still serves; at most half of its life. Default: 60,000. */
  readonly renewBeforeMs?: number | undefined;
  /**
   * Milliseconds for which nobody asks again after the credentials were refused; doubled each time in a row, to an hour at most. For
   * services that lock an account after a few attempts. Default: 30,000 each time.
   */
  readonly refusedForMs?: number | undefined;
}

/** So long nobody asks again after the credentials were refused: clouds lock accounts that are tried often. */
const REFUSED_FOR_MS = 30_000;
const LONGEST_REFUSED_MS = 3_600_000;
/** So long after a renewal ahead of time has failed, the next one waits. */
const EARLY_AGAIN_MS = 10_000;

/**
 * However many requests wait, one asks for the token, in a call of its own: who gives up waiting takes it from nobody else. A renewal ahead
 * of time holds nobody up, and its failure is told to nobody: the old token serves until it ends.
 */
export class SharedToken<Token extends FetchedToken> {
  readonly #options: SharedTokenOptions<Token>;
  #token: Token | undefined;
  #renewAt = 0;
  #flight: Promise<Token> | undefined;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #earlyAgainAt = 0;
  #refusals = 0;

  constructor(options: SharedTokenOptions<Token>) {
    this.#options = options;
  }

  /**
   * One that has not expired. `isRefused`: whether the cloud has refused the one that there is now. Whoever was refused with an older one
   * finds the newer.
   */
  async get({ signal }: CallContext, isRefused: (token: Token) => boolean = () => false): Promise<Token> {
    const now = this.#options.host.clock.now();
    if (this.#token && isRefused(this.#token)) this.#token = undefined;
    const token = this.#token;
    if (!token || now >= (token.expiresAt ?? Infinity)) {
      // Before it is asked: nobody would hear that it failed.
      signal.throwIfAborted();
      return untilAborted(this.#renew(), signal);
    }
    if (now >= this.#renewAt && now >= this.#earlyAgainAt) {
      this.#earlyAgainAt = now + EARLY_AGAIN_MS;
      this.#renew().catch(() => {});
    }
    return token;
  }

  #renew(): Promise<Token> {
    if (this.#refusal && this.#options.host.clock.now() < this.#refusal.until)
      return Promise.reject(this.#refusal.error);
    this.#flight ??= this.#ask();
    return this.#flight;
  }

  async #ask(): Promise<Token> {
    const { fetch, host, refusedForMs, renewBeforeMs = 60_000 } = this.#options;
    try {
      // Those who wait may be deciding about a deletion: this must not come after them.
      const token = await fetch(host.callContext({ priority: 'critical' }));
      host.redact(token.value, { rotating: true });
      const now = host.clock.now();
      const life = (token.expiresAt ?? Infinity) - now;
      this.#renewAt = token.renewAt ?? now + life - Math.min(renewBeforeMs, life / 2);
      this.#token = token;
      this.#refusal = undefined;
      this.#refusals = 0;
      return token;
    } catch (error) {
      if (isCloudError(error, 'unauthenticated') || isCloudError(error, 'configuration')) {
        const wait = refusedForMs === undefined ? REFUSED_FOR_MS : refusedForMs * 2 ** this.#refusals++;
        this.#refusal = { error, until: host.clock.now() + Math.min(wait, LONGEST_REFUSED_MS) };
      }
      throw error;
    } finally {
      this.#flight = undefined;
    }
  }
}
