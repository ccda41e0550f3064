/**
 * Who may read what is shown. It is what its user may see of a cluster, on a machine that others may share, in a browser in which other sites
 * are open. So: a token in the link that works once, for a secret that the page keeps and sends by itself, as a cookie would go to every port
 * of this machine; the `Host` that was listened on and no other name (DNS rebinding); no request that another site has caused; and
 * nothing but reads. The files of the page are the same for all, and are sent to whoever asks.
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Why a request is refused, in one sentence. */
interface Refusal {
  readonly status: 403 | 405 | 421;
  readonly message: string;
}

export type Verdict =
  | { readonly kind: 'allowed' }
  /** By the token of the link: the answer is this secret, which is to be sent from then on. */
  | { readonly kind: 'opened'; readonly secret: string }
  | ({ readonly kind: 'refused' } & Refusal);

export interface SessionRequest {
  readonly method: string;
  readonly url: URL;
  /** By lower case name. */
  readonly header: (name: string) => string | undefined;
}

const SECRET_BYTES = 32;
/** What is asked for with the token of the link. */
const SESSION_PATH = '/api/session';
/** By their exact paths: all else needs the secret. */
const FILES: ReadonlySet<string> = new Set(['/', '/app.js', '/app.css', '/icon.svg']);

export class Session {
  readonly #port: number;
  #token: string | undefined = randomBytes(SECRET_BYTES).toString('base64url');
  readonly #secret = randomBytes(SECRET_BYTES).toString('base64url');

  /** `port`: that of 127.0.0.1 on which the page is served. */
  constructor(port: number) {
    this.#port = port;
  }

  /** Works once. What comes after `#` stays in the browser. */
  get link(): string {
    return `http://127.0.0.1:${this.#port}/#token=${this.#token ?? ''}`;
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
    const given = /^Bearer (.+)$/u.exec(header('authorization') ?? '')?.[1];
    if (FILES.has(url.pathname) || isSame(given, this.#secret)) return { kind: 'allowed' };
    if (url.pathname !== SESSION_PATH || !isSame(given, this.#token)) {
      return refuse(
        403,
        'this page opens by its link alone, which works once: run `outrigger ui` again, and open the link that it prints',
      );
    }
    this.#token = undefined;
    return { kind: 'opened', secret: this.#secret };
  }
}

function refuse(status: Refusal['status'], message: string): Verdict {
  return { kind: 'refused', status, message };
}

/** In a time that says nothing of how much of it is right. */
function isSame(given: string | undefined, wanted: string | undefined): boolean {
  if (given === undefined || wanted === undefined) return false;
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
