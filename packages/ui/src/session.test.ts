import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Session, type Verdict } from './session.ts';

const PORT = 4711;
const HOST = `127.0.0.1:${PORT}`;

function ask(session: Session, path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Verdict {
  const all: Readonly<Record<string, string>> = { host: HOST, ...headers };
  return session.judge({ method, url: new URL(path, `http://${HOST}`), header: (name) => all[name] });
}

function bearer(token: string): { readonly authorization: string } {
  return { authorization: `Bearer ${token}` };
}

function tokenOf({ link }: Session): string {
  return new URL(link).hash.replace('#token=', '');
}

function opened(): { readonly session: Session; readonly token: string; readonly secret: string } {
  const session = new Session(PORT);
  const token = tokenOf(session);
  const verdict = ask(session, '/api/session', bearer(token));
  assert.equal(verdict.kind, 'opened');
  return { session, token, secret: verdict.secret };
}

test('the link works once, for a secret that the page alone sends, and no other port of this machine gets', () => {
  const session = new Session(PORT);
  // Of an address, what comes after # is sent to no server.
  assert.match(session.link, /^http:\/\/127\.0\.0\.1:4711\/#token=[\w-]{43}$/u);
  const verdict = ask(session, '/api/session', bearer(tokenOf(session)));
  assert.equal(verdict.kind, 'opened');
  assert.match(verdict.secret, /^[\w-]{43}$/u);
  const { session: used, secret, token } = opened();
  assert.deepEqual(ask(used, '/api/session', bearer(token)), {
    kind: 'refused',
    status: 403,
    message:
      'this page opens by its link alone, which works once: run `outrigger ui` again, and open the link that it prints',
  });
  for (const one of ['/api/changes', '/api/plan', '/api/explain?kind=node&name=a'])
    assert.equal(ask(used, one, bearer(secret)).kind, 'allowed', one);
});

test('without the secret the files of the page are all that is told, and the token gives the secret alone', () => {
  const session = new Session(PORT);
  const token = tokenOf(session);
  for (const path of ['/', '/app.js', '/app.css', '/icon.svg']) assert.equal(ask(session, path).kind, 'allowed', path);
  for (const path of ['/api/changes', '/api/session', '/%61pi/changes', '//api/changes', '/api', '/none']) {
    assert.equal(ask(session, path).kind, 'refused', path);
    assert.equal(ask(session, path, { cookie: `outrigger-ui-4711=${token}` }).kind, 'refused', path);
  }
  assert.equal(ask(session, '/api/changes', bearer(token)).kind, 'refused');
  assert.equal(ask(session, `/api/session?token=${token}`).kind, 'refused');
  assert.equal(ask(session, '/api/session', bearer('')).kind, 'refused');
  const { session: other, secret, token: used } = opened();
  for (const authorization of [`Bearer ${secret}x`, secret, `Basic ${secret}`, 'Bearer ', `Bearer ${used}`])
    assert.equal(ask(other, '/api/changes', { authorization }).kind, 'refused', authorization);
});

test('another name, another site and whatever would change something are refused, with the secret too', () => {
  const { secret, session } = opened();
  for (const path of ['/', '/api/changes']) {
    for (const [headers, status] of [
      // A name of somebody else's that leads here: DNS rebinding.
      [{ host: 'evil.example:4711' }, 421],
      [{ host: '127.0.0.1:80' }, 421],
      [{ host: '' }, 421],
      [{ origin: 'https://evil.example' }, 403],
      [{ origin: 'null' }, 403],
      [{ origin: 'http://127.0.0.1:9999' }, 403],
      [{ 'sec-fetch-site': 'cross-site' }, 403],
      [{ 'sec-fetch-site': 'same-site' }, 403],
    ] as const) {
      const verdict = ask(session, path, { ...bearer(secret), ...headers });
      assert.deepEqual(
        [verdict.kind, verdict.kind === 'refused' && verdict.status],
        ['refused', status],
        JSON.stringify(headers),
      );
    }
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      const verdict = ask(session, path, { ...bearer(secret), origin: `http://${HOST}` }, method);
      assert.deepEqual([verdict.kind, verdict.kind === 'refused' && verdict.status], ['refused', 405]);
    }
  }
  const own = { ...bearer(secret), origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' };
  assert.equal(ask(session, '/api/changes', own).kind, 'allowed');
  assert.equal(ask(session, '/api/changes', { ...bearer(secret), host: `localhost:${PORT}` }).kind, 'allowed');
});
