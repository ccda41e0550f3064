/** A client of the fake for its own tests: a token, and requests with it, without sockets. */
import assert from 'node:assert/strict';
import type { FakeOpenStack } from './fake-openstack.ts';
import { FAKE_ORIGIN, inProcessFetch } from './in-process-fetch.ts';

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export type Headers = Readonly<Record<string, string>>;

export interface SignedIn {
  /** `path` begins with the service: `/compute/v2.1/servers`. */
  readonly get: (path: string, headers?: Headers) => Promise<Answer>;
  readonly post: (path: string, body: object) => Promise<Answer>;
  readonly put: (path: string, body: object, headers?: Headers) => Promise<Answer>;
  readonly remove: (path: string, headers?: Headers) => Promise<Answer>;
}

export async function signIn(cloud: FakeOpenStack, name = 'k8s'): Promise<SignedIn> {
  const send = inProcessFetch(cloud);
  const domain = { id: 'default' };
  const auth = {
    identity: { methods: ['password'], password: { user: { name, password: name, domain } } },
    scope: { project: { name, domain } },
  };
  const issued = await send(`${FAKE_ORIGIN}/identity/v3/auth/tokens`, {
    method: 'POST',
    body: JSON.stringify({ auth }),
  });
  assert.equal(issued.status, 201);
  const token = issued.headers.get('x-subject-token') ?? '';
  const ask = async (method: string, path: string, body?: object, headers?: Headers): Promise<Answer> => {
    const response = await send(`${FAKE_ORIGIN}${path}`, {
      method,
      headers: { 'x-auth-token': token, ...headers },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) };
  };
  return {
    get: (path, headers) => ask('GET', path, undefined, headers),
    post: (path, body) => ask('POST', path, body),
    put: (path, body, headers) => ask('PUT', path, body, headers),
    remove: (path, headers) => ask('DELETE', path, undefined, headers),
  };
}
