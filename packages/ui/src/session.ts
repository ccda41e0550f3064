/**
 * Who may read the page. It shows what its user may see of a cluster, on a machine that others may share, to a browser in which other sites
 * are open. So: a token in the link that works once, for a cookie that no script and no other site can use; the `Host` that was listened on and
 * no other name (DNS rebinding); no request that another site has caused; and nothing but reads.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Why a request is refused, in one sentence. */
interface Refusal {
  readonly status: 403 | 405 | 421;
  readonly message: string;
}

export type Verdict =
  | { readonly kind: 'allowed' }
  /** By the token of the link: the answer sets this cookie, and leads to the page without the token. */
  | { readonly kind: 'opened'; readonly cookie: string }
  | ({ readonly kind: 'refused' } & Refusal);

export interface SessionRequest {
  readonly method: string;
  readonly url: URL;
  /** By lower case name. */
  readonly header: (name: string) => string | undefined;
}

const SECRET_BYTES = 32;
const AGAIN = 'run `outrigger ui` again, and open the link that it prints';

export class Session {
  readonly #port: number;
  #token: string | undefined = randomBytes(SECRET_BYTES).toString('base64url');
  readonly #secret = randomBytes(SECRET_BYTES).toString('base64url');

  /** `port`: that of 127.0.0.1 on which the page is served. */
  constructor(port: number) {
    this.#port = port;
  }

  /** Works once. */
  get link(): string {
    return `http://127.0.0.1:${this.#port}/?token=${this.#token ?? ''}`;
  }

  judge({ header, method, url }: SessionRequest): Verdict {
    const hosts = [`127.0.0.1:${this.#port}`, `localhost:${this.#port}`];
    const host = header('host') ?? '';
    if (!hosts.includes(host)) return refuse(421, `this server is ${hosts[0]}, and not ${JSON.stringify(host)}`);
    const origin = header('origin');
    if (origin !== undefined && origin !== `http://${host}`) return refuse(403, `${origin} may not ask for this`);
    const site = header('sec-fetch-site') ?? 'none';
    if (site !== 'none' && site !== 'same-origin')
      return refuse(403, 'another site may not ask for this: open the link by hand');
    if (method !== 'GET' && method !== 'HEAD')
      return refuse(405, `${method} is not answered: nothing can be changed here`);
    if (this.#hasCookie(header('cookie') ?? '')) return { kind: 'allowed' };
    const token = url.searchParams.get('token');
    if (token === null || url.pathname !== '/') return refuse(403, `this page opens by its link alone: ${AGAIN}`);
    if (this.#token === undefined || !isSame(token, this.#token))
      return refuse(403, `the link has been used, or is another one's: ${AGAIN}`);
    this.#token = undefined;
    return { kind: 'opened', cookie: `${this.#name}=${this.#secret}; Path=/; HttpOnly; SameSite=Strict` };
  }

  /** Cookies know no ports. */
  get #name(): string {
    return `outrigger-ui-${this.#port}`;
  }

  #hasCookie(header: string): boolean {
    return header.split(';').some((one) => {
      const [name = '', value = ''] = one.trim().split('=', 2);
      return name === this.#name && isSame(value, this.#secret);
    });
  }
}

function refuse(status: Refusal['status'], message: string): Verdict {
  return { kind: 'refused', status, message };
}

/** In a time that says nothing of how much of it is right. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
