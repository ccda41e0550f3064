/** The fake without sockets: a `fetch` that reaches it alone. */
import { BrokenConnection, type FakeOpenStack } from './fake-openstack.ts';
import type { FakeRequest, FakeResponse, FakeService } from './fake-http.ts';

const SERVICES: readonly FakeService[] = ['identity', 'compute', 'network', 'load-balancer', 'volume'];

/** Where the fake is reached in the process: `<FAKE_ORIGIN>/identity/v3` is keystone. */
export const FAKE_ORIGIN = 'http://openstack.test';

/** From an address to the service and what is below it; `undefined` for none of the services'. */
export function toFakeRequest(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): FakeRequest | undefined {
  const service = SERVICES.find((each) => url.pathname === `/${each}` || url.pathname.startsWith(`/${each}/`));
  if (!service) return undefined;
  const path = url.pathname.slice(service.length + 1) || '/';
  return {
    method,
    service,
    origin: url.origin,
    path,
    target: `${path}${url.search}`,
    query: url.searchParams,
    headers,
    body: body === undefined || body === '' ? undefined : (JSON.parse(body) as unknown),
  };
}

export const textOf = ({ text, body }: FakeResponse): string =>
  text ?? (body === undefined ? '' : JSON.stringify(body));

/** Speaks as `fetch` does: a broken connection is a `TypeError`, an abort its signal's reason. */
export function inProcessFetch(cloud: FakeOpenStack): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    const headers = Object.fromEntries(new Headers(init.headers ?? undefined));
    const body = typeof init.body === 'string' ? init.body : undefined;
    const request = toFakeRequest(init.method ?? 'GET', url, headers, body);
    if (!request) throw new TypeError('fetch failed', { cause: new Error(`getaddrinfo ENOTFOUND ${url.hostname}`) });
    let response: FakeResponse;
    try {
      response = await cloud.handle(request, init.signal ?? undefined);
    } catch (error) {
      if (error instanceof BrokenConnection) throw new TypeError('fetch failed', { cause: error });
      throw error;
    }
    const isEmpty = response.status === 204 || response.status === 304;
    return new Response(isEmpty ? null : textOf(response), {
      status: response.status,
      headers: { 'content-type': 'application/json', ...response.headers },
    });
  };
}
