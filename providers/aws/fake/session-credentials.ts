/**
 * Credentials that the fake itself has given: who uses them must sign with their secret, send their token, and not be late. Signatures are
 * computed by hand, so that no library judges itself (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 */
import { createHash, createHmac } from 'node:crypto';
import type { Clock } from '@outrigger/cloud-provider';
import type { IncomingFakeRequest } from '@outrigger/provider-kit/fake';

interface Session {
  readonly secret: string;
  readonly token: string;
  /** Milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

export class SessionCredentials {
  readonly #clock: Clock;
  readonly #sessions = new Map<string, Session>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(accessKey: string, session: Session): void {
    this.#sessions.set(accessKey, session);
  }

  isExpired(accessKey: string): boolean {
    const session = this.#sessions.get(accessKey);
    return session !== undefined && session.expiresAt <= this.#clock.now();
  }

  /** Keys that the fake has not given are a test's own: any signature will do. */
  isSigned(accessKey: string, request: IncomingFakeRequest): boolean {
    const session = this.#sessions.get(accessKey);
    if (!session) return true;
    if (request.headers['x-amz-security-token'] !== session.token) return false;
    const authorization = request.headers['authorization'] ?? '';
    return authorization.endsWith(`Signature=${signatureOf(request, authorization, session.secret)}`);
  }
}

function signatureOf(
  { headers, method, path, query, text }: IncomingFakeRequest,
  authorization: string,
  secret: string,
): string {
  const { names = '', scope = '' } =
    /Credential=[\w-]+\/(?<scope>[^,]+), ?SignedHeaders=(?<names>[^,]+)/u.exec(authorization)?.groups ?? {};
  const parameters = [...query].map((pair) => pair.map(encodeURIComponent).join('='));
  const canonical = [
    method,
    path,
    parameters.toSorted((a, b) => (a < b ? -1 : 1)).join('&'),
    ...names.split(';').map((name) => `${name}:${(headers[name] ?? '').trim().replaceAll(/ +/gu, ' ')}`),
    '',
    names,
    sha256(text),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'] ?? '', scope, sha256(canonical)].join('\n');
  let key: Buffer = Buffer.from(`AWS4${secret}`);
  for (const part of scope.split('/')) key = createHmac('sha256', key).update(part).digest();
  return createHmac('sha256', key).update(toSign).digest('hex');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
