/**
 * Who this page is to the server. The secret is kept for this origin, which its port is part of: a cookie would go to each port of 127.0.0.1,
 * and some may be another user's. It is of no use once the command has ended.
 */

const KEY = 'outrigger-ui';
/** For a browser that keeps nothing: until the page is loaded anew. */
let secret = '';

/** Exchanges the token of the link, where there is one, and takes it off the address. */
export async function openSession(): Promise<void> {
  const [, token] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(undefined, '', '#overview');
  const answer = await fetch('/api/session', withBearer(token)).catch(() => undefined);
  if (!answer?.ok) return;
  secret = await answer.text();
  try {
    localStorage.setItem(KEY, secret);
  } catch {
    // It is refused.
  }
}

function known(): string {
  try {
    return localStorage.getItem(KEY) ?? secret;
  } catch {
    return secret;
  }
}

/** The server answers, and does not tell this page anything. */
export class Refused extends Error {}

/** Throws a `Refused` or another `Error`, of one line. */
export async function ask(path: string, signal?: AbortSignal): Promise<Response> {
  const answer = await fetch(path, { ...withBearer(known()), ...(signal && { signal }) });
  if (answer.ok) return answer;
  const why = (await answer.text()).trim();
  throw answer.status === 403 ? new Refused(why) : new Error(why);
}

function withBearer(token: string): RequestInit {
  return { headers: { authorization: `Bearer ${token}` } };
}
