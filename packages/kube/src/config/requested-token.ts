/** Bearer tokens of a service account that the API server issues to whoever may create them: TokenRequest. */
import { raceAbort } from '../abort.ts';
import type { Client, ResourceClient } from '../client.ts';
import type { Clock } from '../clock.ts';
import type { Logger } from '../logger.ts';
import type { Resource } from '../resource.ts';
import { resources } from '../resources.ts';
import { isAlreadyExists, isNotFound } from '../status-error.ts';
import type { TokenRequest } from '../types/index.ts';
import type { Credential, Credentials } from './credentials.ts';

export interface RequestedTokenOptions {
  /** Of an identity that may create `serviceaccounts/token` for this account, and the account when there is none. */
  readonly client: Client;
  readonly account: { readonly namespace: string; readonly name: string };
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of each token before it is used, so that no log shows it. */
  readonly onSecret: (token: string) => void;
}

/** client-go's: an hour, of which the last fifth is for getting another one. */
const LIFETIME_SECONDS = 3_600;
const USED_FRACTION = 0.8;
/** A refresh that failed is tried again after this; and a token that is refused is not replaced more often. */
const PAUSE_MS = 10_000;
const TIMEOUT_MS = 10_000;

const tokens: Resource<TokenRequest> = { ...resources.serviceAccounts, kind: 'TokenRequest' };

interface Held {
  readonly credential: Credential;
  /** Monotonic milliseconds. */
  readonly gotAt: number;
  readonly expiresAt: number;
}

/** A token when it is first needed, another well before it expires and at a 401. The account is made when there is none. */
export function requestedToken(options: RequestedTokenOptions): Credentials {
  const source = new TokenSource(options);
  return {
    current: (signal) => raceAbort(source.current(), signal),
    renew: (rejected, signal) => raceAbort(source.renew(rejected), signal),
  };
}

class TokenSource {
  readonly #options: RequestedTokenOptions;
  readonly #tokens: ResourceClient<TokenRequest>;
  #held: Held | undefined;
  #refreshAt = 0;
  #asking: Promise<Held> | undefined;

  constructor(options: RequestedTokenOptions) {
    this.#options = options;
    this.#tokens = options.client.of(tokens);
  }

  async current(): Promise<Credential> {
    const { account, clock, logger } = this.#options;
    const held = this.#held;
    const now = clock.monotonic();
    if (held && now < this.#refreshAt) return held.credential;
    try {
      return (await this.#ask()).credential;
    } catch (error) {
      if (!held || clock.monotonic() >= held.expiresAt) throw error;
      this.#refreshAt = clock.monotonic() + PAUSE_MS;
      logger.warn('Cannot refresh the token; continuing with the current one', { account: account.name, error });
      return held.credential;
    }
  }

  async renew(rejected: Credential): Promise<Credential | undefined> {
    const held = this.#held;
    if (held && held.credential !== rejected) return held.credential;
    // Refused although it is new: another one would fare no better.
    if (held && this.#options.clock.monotonic() - held.gotAt < PAUSE_MS) return undefined;
    return (await this.#ask()).credential;
  }

  /** Callers at the same time share one request. */
  #ask(): Promise<Held> {
    this.#asking ??= this.#request().finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #request(): Promise<Held> {
    const { account, clock, onSecret } = this.#options;
    const gotAt = clock.monotonic();
    const answer = await this.#createToken();
    const token = answer.status?.token ?? '';
    if (token === '') throw new Error(`the API server issued no token for service account ${account.name}`);
    onSecret(token);
    // Counted from here: the clock of the server may be another. It may also allow less than was asked for.
    const lifetimeMs = (answer.spec?.expirationSeconds ?? LIFETIME_SECONDS) * 1000;
    this.#refreshAt = gotAt + lifetimeMs * USED_FRACTION;
    this.#held = {
      credential: { headers: { authorization: `Bearer ${token}` } },
      gotAt,
      expiresAt: gotAt + lifetimeMs,
    };
    return this.#held;
  }

  async #createToken(): Promise<TokenRequest> {
    const { account, client } = this.#options;
    try {
      return await this.#post();
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    try {
      const metadata = { namespace: account.namespace, name: account.name };
      const made = { apiVersion: 'v1', kind: 'ServiceAccount', metadata };
      await client.of(resources.serviceAccounts).create(made, { timeoutMs: TIMEOUT_MS });
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
    }
    return this.#post();
  }

  #post(): Promise<TokenRequest> {
    const body = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: LIFETIME_SECONDS },
    };
    const { name, namespace } = this.#options.account;
    return this.#tokens.create(body, { namespace, name, subresource: 'token', timeoutMs: TIMEOUT_MS });
  }
}
