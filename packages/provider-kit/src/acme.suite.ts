/** The REST cloud that examples/acme-cloud.ts is about, on 127.0.0.1: what is in use stays, what leads nowhere is refused. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Thing {
  readonly id: string;
  [name: string]: unknown;
}

export interface AcmeCloud extends AsyncDisposable {
  readonly endpoint: string;
  /** By path (`servers`), by ID. */
  readonly things: ReadonlyMap<string, Map<string, Thing>>;
  /** `GET /servers`, IDs left out; in their order. */
  readonly log: string[];
  /** Each request is answered with this status; `empty`: lists are; `lost`: writes are done, and fail. 0: all is well. */
  failure: number | 'empty' | 'lost';
  /** How many routes there may be. */
  mostRoutes: number;
}

export const ACME_TOKEN = 'token-of-acme';
const PAGE = 10;
/** Members that name something else. */
const REFERENCES: Readonly<Record<string, string>> = { address: 'addresses', balancer: 'load-balancers' };

class Refused extends Error {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

export async function startAcmeCloud(): Promise<AcmeCloud> {
  const things = new Map(
    ['servers', 'routes', 'addresses', 'load-balancers', 'firewalls', 'records'].map((path) => [
      path,
      new Map<string, Thing>(),
    ]),
  );
  let next = 1;
  const collection = (path: string): Map<string, Thing> => {
    const found = things.get(path);
    if (!found) throw new Refused(404, 'no_route');
    return found;
  };
  const checkReferences = (path: string, body: Readonly<Record<string, unknown>>): void => {
    for (const [member, other] of Object.entries(REFERENCES)) {
      if (body[member] !== undefined && !collection(other).has(body[member] as string))
        throw new Refused(422, 'reference');
    }
    if (path !== 'routes') return;
    if (!collection('servers').has(body['server'] as string)) throw new Refused(404, 'not_found');
    if (collection('routes').size >= cloud.mostRoutes) throw new Refused(403, 'quota');
  };
  const answer = (method: string, url: URL, body: Readonly<Record<string, unknown>>): unknown => {
    const [, path = '', id] = url.pathname.split('/').map(decodeURIComponent);
    const all = collection(path);
    if (method === 'POST') {
      checkReferences(path, body);
      const made: Thing = {
        ...body,
        id: `${path}-${next++}`,
        ...(path === 'addresses' && { ip: `203.0.113.${next}` }),
      };
      all.set(made.id, made);
      return made;
    }
    if (id === undefined) {
      const from = Number(url.searchParams.get('page') ?? '0') * PAGE;
      const shown = [...all.values()].map((one) => ({
        ...one,
        ...(path === 'routes' && !collection('servers').has(one['server'] as string) && { server: undefined }),
      }));
      if (cloud.failure === 'empty') return { items: [] };
      return { items: shown.slice(from, from + PAGE), ...(from + PAGE < shown.length && { next: from / PAGE + 1 }) };
    }
    const found = all.get(id);
    if (!found) throw new Refused(404, 'not_found');
    if (method === 'PUT') {
      checkReferences(path, body);
      all.set(id, { ...found, ...body, id });
    }
    if (method === 'DELETE') {
      const member = Object.keys(REFERENCES).find((one) => REFERENCES[one] === path);
      const isUsed = [...things.values()].some((others) =>
        [...others.values()].some((one) => member !== undefined && one[member] === id),
      );
      if (isUsed) throw new Refused(409, 'in_use');
      all.delete(id);
    }
    return method === 'DELETE' ? undefined : all.get(id);
  };
  const serve = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
    const url = new URL(request.url ?? '', 'http://acme');
    const { method = '' } = request;
    cloud.log.push(`${method} ${url.pathname.split('/')[1]}`);
    const text = (await request.toArray()).join('');
    if (request.headers.authorization !== `Bearer ${ACME_TOKEN}`)
      return [401, { error: { code: 'token', message: '' } }];
    const { failure } = cloud;
    if (typeof failure === 'number' && failure > 0) return [failure, { error: { code: 'by_request', message: '' } }];
    try {
      const body = answer(method, url, text === '' ? {} : (JSON.parse(text) as Record<string, unknown>));
      return failure === 'lost' && method !== 'GET' ? [500, {}] : [200, body];
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return [error.status, { error: { code: error.message, message: `${method} ${url.pathname}: ${error.message}` } }];
    }
  };
  const http = createServer((request, response) => {
    serve(request).then(
      ([status, body]) => response.writeHead(status).end(body === undefined ? '' : JSON.stringify(body)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const cloud: AcmeCloud = {
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    things,
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

export function acmeServer(name: string): Thing {
  return { id: `srv-${name}`, name, status: 'active', ip: '10.1.0.1', zone: 'r1a' };
}
