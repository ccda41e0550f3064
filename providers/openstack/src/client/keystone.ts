/** Asks keystone for a token, and reads what it answers. */
import { CloudError, type Clock, retryAfterMs } from '@outrigger/cloud-provider';
import type { HttpTransport, ReceivedHttp } from '@outrigger/provider-kit';
import type { AuthRequest } from './auth-request.ts';
import type { CatalogueEntry } from './catalogue.ts';
import { parseObject } from './refusal.ts';

export interface Token {
  /** A secret. */
  readonly value: string;
  readonly catalogue: readonly CatalogueEntry[];
  /** Of the project that it is for. */
  readonly projectId: string;
  /** Wall clock, by this machine: keystone's may be another. */
  readonly expiresAt: number;
  /** From here on a new one is asked for, while this one still serves. */
  readonly renewAt: number;
}

export interface KeystoneOptions {
  /** With `/v3`. */
  readonly url: string;
  readonly auth: AuthRequest;
  readonly transport: HttpTransport;
  readonly headers: Readonly<Record<string, string>>;
  readonly clock: Clock;
}

/** One request. Rejects with `unauthenticated` for credentials that keystone does not take. */
export async function authenticate(options: KeystoneOptions, signal: AbortSignal): Promise<Token> {
  const { url, auth, transport, headers, clock } = options;
  const answer = await transport.send(
    {
      method: 'POST',
      url: `${url}/auth/tokens`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(auth.body),
    },
    signal,
  );
  if (answer.status !== 201) throw refused(options, answer);
  return tokenOf(options, answer, clock.now());
}

interface TokenBody {
  readonly token?: {
    readonly issued_at?: string;
    readonly expires_at?: string;
    readonly catalog?: readonly CatalogueEntry[];
    readonly project?: { readonly id?: string };
  };
}

/** A token is renewed when this part of its life is left, and at the latest so many milliseconds before its end. */
const LAST_PART = 0.1;
const LATEST_MS = 5 * 60_000;

function tokenOf({ url, auth }: KeystoneOptions, answer: ReceivedHttp, now: number): Token {
  const value = answer.header('x-subject-token');
  const { token } = (parseObject(answer.text) ?? {}) as TokenBody;
  if (value === undefined || !token) {
    throw new CloudError('unavailable', `keystone at ${url} answered without a token: is it keystone?`);
  }
  const { issued_at, expires_at, catalog = [], project } = token;
  if (project?.id === undefined) {
    throw new CloudError(
      'unauthenticated',
      `keystone at ${url} gave ${auth.as} a token without a project: name one with tenant-id or tenant-name in [Global] of cloud.conf`,
    );
  }
  // Measured between two times of keystone's, so that it does not matter what time this machine believes it is.
  const lifeMs = Math.max(0, Date.parse(expires_at ?? '') - Date.parse(issued_at ?? ''));
  if (Number.isNaN(lifeMs))
    throw new CloudError('unavailable', `keystone at ${url} returned a token without its times`);
  const renewBeforeMs = Math.min(LATEST_MS, lifeMs * LAST_PART);
  const expiresAt = now + lifeMs;
  return { value, catalogue: catalog, projectId: project.id, expiresAt, renewAt: expiresAt - renewBeforeMs };
}

function refused({ url, auth, clock }: KeystoneOptions, answer: ReceivedHttp): CloudError {
  const { status } = answer;
  const { error } = (parseObject(answer.text) ?? {}) as { error?: { message?: unknown } };
  const message = error?.message;
  const retry = { retryAfterMs: retryAfterMs(answer.header('retry-after'), clock.now()) };
  if (status === 429) return new CloudError('throttled', `keystone at ${url} is asked too often (429)`, retry);
  if (typeof message === 'string' && status < 500) {
    const said = message.replaceAll(/\s+/gu, ' ').trim();
    return new CloudError(
      'unauthenticated',
      `keystone at ${url} does not accept ${auth.as}: ${said} (${status}): correct the credentials in [Global] of cloud.conf`,
    );
  }
  const hint = status < 500 ? ': is auth-url in [Global] of cloud.conf the URL of keystone?' : '';
  return new CloudError('unavailable', `${url} returned no token (${status})${hint}`, retry);
}
