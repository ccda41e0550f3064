/** The token that all requests share: got when it is first needed, renewed before it expires and when a service refuses it. */
import { isCloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { authenticate, type KeystoneOptions, type Token } from './keystone.ts';
import { SharedAnswer } from './shared-answer.ts';

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
  readonly #keystone: KeystoneOptions;
  readonly #asking: SharedAnswer<Token>;
  #token: Token | undefined;
  #refusal: { readonly error: Error; readonly until: number } | undefined;
  #earlyAgainAt = 0;
  #failed = false;

  constructor(host: TokenHost, keystone: KeystoneOptions) {
    this.#host = host;
    this.#keystone = keystone;
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
      this.#token = token;
      this.#refusal = undefined;
      this.#report(undefined);
      return token;
    } catch (error) {
      if (isCloudError(error, 'unauthenticated')) {
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
    if (error === undefined) {
      if (this.#failed) logger.info('keystone gives tokens again', { url });
      this.#failed = false;
    } else if (isCloudError(error)) {
      if (!this.#failed)
        logger.error('keystone gives no token', { url, as: auth.as, code: error.code, why: error.message });
      this.#failed = true;
    }
  }
}
