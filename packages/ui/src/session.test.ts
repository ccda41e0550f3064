import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Session, type Verdict } from './session.ts';

const PORT = 4711;
const HOST = `127.0.0.1:${PORT}`;

function ask(session: Session, path: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Verdict {
  const all: Readonly<Record<string, string>> = { host: HOST, ...headers };
  return session.judge({ method, url: new URL(path, `http://${HOST}`), header: (name) => all[name] });
}

function opened(): { readonly session: Session; readonly path: string; readonly cookie: string } {
  const session = new Session(PORT);
  const { pathname, search } = new URL(session.link);
  const verdict = ask(session, pathname + search);
  assert.equal(verdict.kind, 'opened');
  const [cookie = ''] = verdict.cookie.split(';', 1);
  return { session, path: pathname + search, cookie };
}

test('the link works once, for a cookie that no script and no other site can use', () => {
  const session = new Session(PORT);
  assert.match(session.link, /^http:\/\/127\.0\.0\.1:4711\/\?token=[\w-]{43}$/u);
  const verdict = ask(session, session.link.slice(`http://${HOST}`.length));
  assert.equal(verdict.kind, 'opened');
  assert.match(verdict.cookie, /^outrigger-ui-4711=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/u);
  const { session: used, path, cookie } = opened();
  assert.deepEqual(ask(used, path), {
    kind: 'refused',
    status: 403,
    message: "the link has been used, or is another one's: run `outrigger ui` again, and open the link that it prints",
  });
  for (const one of ['/', '/app.js', '/api/changes', path])
    assert.equal(ask(used, one, { cookie }).kind, 'allowed', one);
  assert.equal(ask(used, '/api/plan', { cookie: `a=b; ${cookie}; c=d` }).kind, 'allowed');
});

test('without the cookie nothing is told, and a token opens the page alone', () => {
  const session = new Session(PORT);
  const token = new URL(session.link).search;
  for (const path of ['/', '/api/changes', `/api/changes${token}`, '/?token=', '/?token=x']) {
    assert.equal(ask(session, path).kind, 'refused', path);
  }
  const { session: other, cookie } = opened();
  assert.equal(ask(other, '/', { cookie: `${cookie}x` }).kind, 'refused');
  assert.equal(ask(other, '/', { cookie: cookie.replace('4711', '4712') }).kind, 'refused');
});

test('another name, another site and whatever would change something are refused, with the cookie too', () => {
  const { session, cookie } = opened();
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
    const verdict = ask(session, '/api/changes', { cookie, ...headers });
    assert.deepEqual(
      [verdict.kind, verdict.kind === 'refused' && verdict.status],
      ['refused', status],
      JSON.stringify(headers),
    );
  }
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
    const verdict = ask(session, '/', { cookie, origin: `http://${HOST}` }, method);
    assert.deepEqual([verdict.kind, verdict.kind === 'refused' && verdict.status], ['refused', 405]);
  }
  assert.equal(
    ask(session, '/', { cookie, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }).kind,
    'allowed',
  );
  assert.equal(ask(session, '/', { cookie, host: `localhost:${PORT}` }).kind, 'allowed');
});
