/** Signs requests with the credentials that there are now, by AWS' clock. One for all services. */
import { CloudError, type CallContext, type ProviderHost } from '@outrigger/cloud-provider';
import { tokenCredentials, type ApiError, type SentHttp } from '@outrigger/provider-kit';
import { signRequest, type AwsCredentials, type SigningScope } from './sign-request.ts';

/** Asked when credentials are first needed, before they end and when AWS refuses them. */
export type CredentialSource = (call: CallContext) => Promise<AwsCredentials>;

type Headers = Readonly<Record<string, string>>;
type SignerHost = Pick<ProviderHost, 'callContext' | 'clock' | 'logger' | 'redact'>;

/** AWS takes what was signed within five minutes of its own time. */
const SKEW_MS = 4 * 60_000;
/** As the SDKs: what is under way must not end, nor anybody wait for the next. */
const RENEW_BEFORE_MS = 5 * 60_000;

export class RequestSigner {
  readonly #host: SignerHost;
  /** The credentials as a text, in the place of a header: it is sent nowhere. */
  readonly #kept: (call: CallContext, refused: boolean, last?: Headers) => Promise<Headers>;
  #credentials: AwsCredentials | undefined;
  /** Milliseconds by which AWS' clock is ahead of this machine's, and how often that was found. */
  #aheadMs = 0;
  #clockChanges = 0;
  #refusal = '';
  /** Of what `ready` has given: with what it went. */
  readonly #used = new WeakMap<Headers, { readonly kept: Headers; readonly clockChanges: number }>();

  constructor(host: SignerHost, source: CredentialSource) {
    this.#host = host;
    this.#kept = tokenCredentials({
      host,
      renewBeforeMs: RENEW_BEFORE_MS,
      headers: (credentials) => ({ credentials }),
      fetch: async (call) => {
        const credentials = await source(call);
        const { expiresAt, secretAccessKey, sessionToken } = credentials;
        for (const secret of [secretAccessKey, sessionToken])
          if (secret !== undefined) host.redact(secret, { rotating: expiresAt !== undefined });
        return { value: JSON.stringify(credentials), ...(expiresAt !== undefined && { expiresAt }) };
      },
    });
  }

  /** For `HttpClientOptions.credentials`: has credentials ready for `sign`, others than those that were refused. */
  async ready(call: CallContext, isRefused: boolean, last?: Headers): Promise<Headers> {
    const used = last && this.#used.get(last);
    const isClockNew = used !== undefined && used.clockChanges !== this.#clockChanges;
    const kept = await this.#kept(call, isRefused && !isClockNew, used?.kept);
    this.#credentials = JSON.parse(kept['credentials'] ?? '') as AwsCredentials;
    if (isRefused && !isClockNew && kept['credentials'] === used?.kept['credentials']) {
      const { source } = this.#credentials;
      throw new CloudError(
        'unauthenticated',
        `AWS refuses the credentials of ${source ?? 'the configuration'}: ${this.#refusal}`,
      );
    }
    const headers = {};
    this.#used.set(headers, { kept, clockChanges: this.#clockChanges });
    return headers;
  }

  /** For `HttpClientOptions.sign`. */
  sign(request: SentHttp, scope: SigningScope): Promise<Headers> {
    if (!this.#credentials) throw new Error('a request is signed before there are credentials');
    return signRequest(request, this.#credentials, scope, this.#host.clock.now() + this.#aheadMs);
  }

  /** Hears of each refusal. `date`: of the answer, which says how late it is for AWS. */
  refused({ code, message }: ApiError, date: string | undefined): void {
    this.#refusal = `${code}: ${message}`;
    if (!/Signature|Expired|Skew|InTheFuture|AuthFailure|InvalidSecurity/u.test(code)) return;
    const aheadMs = Date.parse(date ?? '') - this.#host.clock.now();
    if (Number.isNaN(aheadMs) || Math.abs(aheadMs - this.#aheadMs) < SKEW_MS) return;
    this.#aheadMs = aheadMs;
    this.#clockChanges++;
    this.#host.logger.warn('The clock of this machine is not that of AWS: requests are signed by the time of AWS', {
      aheadSeconds: Math.round(aheadMs / 1000),
      code,
      remedy: 'set the clock of the machine (NTP); the sign says whether it is late (+) or early (-)',
    });
  }
}
