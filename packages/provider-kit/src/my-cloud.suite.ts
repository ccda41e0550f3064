/** The REST cloud that docs/guides/write-a-provider is about, on 127.0.0.1: its load balancers are created, changed and deleted in the background. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Resource {
  readonly id: string;
  [name: string]: unknown;
}

export interface MyCloud extends AsyncDisposable {
  readonly endpoint: string;
  /** By path (`servers`), by ID. */
  readonly resources: ReadonlyMap<string, Map<string, Resource>>;
  /** `GET /servers`, IDs left out; in their order. */
  readonly log: string[];
  /** Each request is answered with this status; `empty`: lists are; `lost`: writes are done, and fail. 0: all is well. */
  failure: number | 'empty' | 'lost';
  /** How many routes there may be. */
  mostRoutes: number;
}

export const MY_CLOUD_TOKEN = 'token-of-my-cloud';
const PAGE = 10;
const PATHS = ['servers', 'addresses', 'load-balancers', 'routes'];

class Refused extends Error {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

export async function startMyCloud(): Promise<MyCloud> {
  const resources = new Map(PATHS.map((path) => [path, new Map<string, Resource>()]));
  const addresses = resources.get('addresses')!;
  const balancers = resources.get('load-balancers')!;
  const [routes, servers] = [resources.get('routes')!, resources.get('servers')!];
  let next = 1;

  /** What has been listed once goes on at the next list. */
  const proceed = (): void => {
    for (const balancer of balancers.values()) {
      if (balancer['state'] === 'deleting') balancers.delete(balancer.id);
      else balancer['state'] = 'active';
    }
  };
  const ready = (balancer: Resource): Resource => {
    if (balancer['state'] !== 'active') throw new Refused(409, 'busy');
    return balancer;
  };
  const create = (path: string, body: Readonly<Record<string, unknown>>): Resource => {
    const isRoute = path === 'routes';
    if (path === 'load-balancers' && !addresses.has(body['address'] as string)) throw new Refused(422, 'no_address');
    if (isRoute && !servers.has(body['server'] as string)) throw new Refused(404, 'not_found');
    if (isRoute && routes.size >= cloud.mostRoutes) throw new Refused(403, 'quota_exceeded');
    const made: Resource = {
      ...body,
      id: `${path}-${next++}`,
      ...(path === 'addresses' && { ip: `203.0.113.${next}` }),
      ...(path === 'load-balancers' && { state: 'creating' }),
    };
    resources.get(path)?.set(made.id, made);
    return made;
  };
  const list = (path: string, page: number): unknown => {
    if (cloud.failure === 'empty') return { items: [] };
    const all = [...(resources.get(path)?.values() ?? [])].map((one) => ({
      ...one,
      ...(path === 'routes' && !servers.has(one['server'] as string) && { server: undefined }),
    }));
    if (path === 'load-balancers') proceed();
    const items = all.slice(page * PAGE, (page + 1) * PAGE);
    return { items, ...(all.length > (page + 1) * PAGE && { next: page + 1 }) };
  };
  const change = (method: string, path: string, found: Resource, body: object): unknown => {
    if (method === 'PUT') return Object.assign(found, body, path === 'load-balancers' && { state: 'updating' });
    if (path === 'load-balancers') {
      found['state'] = 'deleting';
      return undefined;
    }
    const isUsed = [...balancers.values()].some(({ address }) => address === found.id);
    if (isUsed) throw new Refused(409, 'in_use');
    resources.get(path)?.delete(found.id);
    return undefined;
  };
  const answer = (method: string, url: URL, body: Readonly<Record<string, unknown>>): unknown => {
    const [, path = '', id] = url.pathname.split('/').map(decodeURIComponent);
    if (path === 'account') return { id: 'account-1' };
    if (!resources.has(path)) throw new Refused(404, 'no_such_path');
    if (method === 'POST') return create(path, body);
    if (id === undefined) return list(path, Number(url.searchParams.get('page') ?? '0'));
    const found = resources.get(path)?.get(id);
    if (!found) throw new Refused(404, 'not_found');
    if (method === 'GET') return found;
    return change(method, path, path === 'load-balancers' ? ready(found) : found, body);
  };
  const serve = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
    const url = new URL(request.url ?? '', 'http://my-cloud');
    const { method = '' } = request;
    cloud.log.push(`${method} /${url.pathname.split('/')[1]}`);
    const text = (await request.toArray()).join('');
    const { failure } = cloud;
    const error = (code: string): object => ({ error: { code, message: `${method} ${url.pathname}: ${code}` } });
    if (request.headers.authorization !== `Bearer ${MY_CLOUD_TOKEN}`) return [401, error('wrong_token')];
    if (typeof failure === 'number' && failure > 0) return [failure, error('by_request')];
    try {
      const body = answer(method, url, text === '' ? {} : (JSON.parse(text) as Record<string, unknown>));
      return failure === 'lost' && method !== 'GET' ? [500, {}] : [200, body];
    } catch (thrown) {
      if (!(thrown instanceof Refused)) throw thrown;
      return [thrown.status, error(thrown.message)];
    }
  };
  const http = createServer((request, response) => {
    serve(request).then(
      ([status, body]) => response.writeHead(status).end(body === undefined ? '' : JSON.stringify(body)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const cloud: MyCloud = {
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    resources,
    log: [],
    failure: 0,
    mostRoutes: Infinity,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return cloud;
}

export function myServer(name: string): Resource {
  const server = { name, status: 'active', plan: 'm1', zone: 'z1', region: 'r1', privateIp: '10.1.0.1' };
  return { id: `srv-${name}`, ...server };
}
