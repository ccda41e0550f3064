/** The token that all requests share: got when it is first needed, renewed before it expires and when a service refuses it. */
import { isCloudError, type CallContext, type CloudErrorCode, type ProviderHost } from '@outrigger/cloud-provider';
import { authenticate, type KeystoneOptions, type Token } from './keystone.ts';
import { SharedAnswer } from './shared-answer.ts';

export interface TokenSourceOptions extends KeystoneOptions {
  /** Throws where a token leads to what must not be asked. */
  readonly admit?: ((token: Token) => void) | undefined;
  /** Whoever asks first tells of the failure. Default: false. */
  readonly firstFailureIsTold?: boolean | undefined;
}

export type TokenHost = Pick<ProviderHost, 'callContext' | 'clock' | 'logger' | 'redact'>;

/**
 * After keystone has refused the credentials, it is not asked again for so long: it locks accounts that are tried often
 * (`[security_compliance] lockout_failure_attempts`), and a thousand nodes would try.
 */
const REFUSED_FOR_MS = 30_000;
/** After a renewal ahead of time has failed, the next one waits for so long; the old token still serves. */
const EARLY_AGAIN_MS = 10_000;

export class TokenSource {
  readonly #host: TokenHost;
  readonly #keystone: TokenSourceOptions;
  readonly #asking: SharedAnswer<Token>;
  #token: Token | undefined;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #earlyAgainAt = 0;
  #failed = false;
  #isTold: boolean;

  constructor(host: TokenHost, keystone: TokenSourceOptions) {
    this.#host = host;
    this.#keystone = keystone;
    this.#isTold = keystone.firstFailureIsTold ?? false;
    for (const secret of keystone.auth.secrets) host.redact(secret);
    this.#asking = new SharedAnswer(() => this.#ask());
  }

  /** One that has not expired. One request to keystone, however many wait. */
  async get(call: CallContext): Promise<Token> {
    const now = this.#host.clock.now();
    const token = this.#token;
    if (!token || now >= token.expiresAt) return this.#renew(call);
    if (now >= token.renewAt && now >= this.#earlyAgainAt) {
      this.#earlyAgainAt = now + EARLY_AGAIN_MS;
      // Nobody waits for it, nor hears of its failure but the log: the token serves until it expires.
      this.#renew(this.#host.callContext()).catch(() => {});
    }
    return token;
  }

  /** Another one than `refused`, which a service does not accept any more. */
  async replace(call: CallContext, refused: Token): Promise<Token> {
    if (this.#token === refused) this.#token = undefined;
    return this.get(call);
  }

  async #renew(call: CallContext): Promise<Token> {
    if (this.#refusal && this.#host.clock.now() < this.#refusal.until) throw this.#refusal.error;
    return this.#asking.get(call.signal);
  }

  async #ask(): Promise<Token> {
    try {
      // Those who wait may be deciding about a deletion: this must not come after them.
      const token = await this.#host
        .callContext({ priority: 'critical' })
        .call({ name: 'POST /v3/auth/tokens', idempotent: true, bucket: 'identity' }, (signal) =>
          authenticate(this.#keystone, signal),
        );
      this.#host.redact(token.value, { rotating: true });
      this.#keystone.admit?.(token);
      this.#token = token;
      this.#refusal = undefined;
      this.#report(undefined);
      return token;
    } catch (error) {
      if (isCloudError(error, 'unauthenticated') || isCloudError(error, 'configuration')) {
        this.#refusal = { error, until: this.#host.clock.now() + REFUSED_FOR_MS };
      }
      this.#report(error);
      throw error;
    } finally {
      this.#asking.forget();
    }
  }

  /** One line when it begins to fail, and one when it works again. */
  #report(error: unknown): void {
    const { logger } = this.#host;
    const { url, auth } = this.#keystone;
    const isTold = this.#isTold;
    this.#isTold = false;
    if (error === undefined) {
      if (this.#failed) logger.info('Keystone issues tokens again', { url });
      this.#failed = false;
    } else if (isCloudError(error) && !isTold) {
      const { code, message: why } = error;
      if (!this.#failed) logger.error(lineOf(code), { url, as: auth.as, code, why, next: nextOf(code) });
      this.#failed = true;
    }
  }
}

function lineOf(code: CloudErrorCode): string {
  return code === 'configuration' ? 'The token of keystone is not used' : 'Keystone issues no token';
}

/** What is to be done. */
function nextOf(code: CloudErrorCode): string {
  if (code === 'configuration' || code === 'unauthenticated') return 'correct the cloud config: it is read again';
  return 'check auth-url in [Global] of cloud.conf and the network path to it: the next request asks keystone again';
}
