/** The cloud in memory, over HTTP on 127.0.0.1: what the tests and `make demo` run against. As strict as the cloud itself: make it so. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

interface FakeThing {
  readonly id: string;
  readonly [name: string]: unknown;
}

export interface FakeCloud extends AsyncDisposable {
  readonly endpoint: string;
  readonly token: string;
  /** What there is at a path (`servers`), by ID. */
  at(path: string): Map<string, FakeThing>;
  /** `GET /servers`, IDs left out; in their order. */
  readonly log: readonly string[];
  /** Each request is answered with this status. 0: all is well. */
  failure: number;
}

const TOKEN = 'token-of-the-fake';
const PAGE = 50;
/** By path: members that name another thing, and where that is. What is in use cannot be deleted. */
const REFERENCES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  servers: {},
  // <routes>
  routes: { server: 'servers' },
  // </routes>
  // <load-balancers>
  addresses: {},
  'load-balancers': { address: 'addresses' },
  firewalls: { balancer: 'load-balancers' },
  // </load-balancers>
  // <volumes>
  volumes: {},
  // </volumes>
};

class Refused extends Error {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code);
    this.status = status;
  }
}

export async function startFakeCloud(): Promise<FakeCloud> {
  const things = new Map(Object.keys(REFERENCES).map((path) => [path, new Map<string, FakeThing>()]));
  const log: string[] = [];
  let next = 1;
  const at = (path: string): Map<string, FakeThing> => {
    const found = things.get(path);
    if (!found) throw new Refused(404, 'no_such_path');
    return found;
  };
  const check = (path: string, body: Readonly<Record<string, unknown>>): void => {
    for (const [member, other] of Object.entries(REFERENCES[path] ?? {})) {
      if (!at(other).has(String(body[member]))) throw new Refused(422, 'no_such_reference');
    }
  };
  const isUsed = (path: string, id: string): boolean =>
    Object.entries(REFERENCES).some(([from, members]) =>
      Object.entries(members).some(
        // A machine goes whatever leads to it.
        ([member, to]) => to === path && path !== 'servers' && [...at(from).values()].some((one) => one[member] === id),
      ),
    );
  const answer = (method: string, url: URL, body: Readonly<Record<string, unknown>>): unknown => {
    const [, path = '', id] = url.pathname.split('/').map(decodeURIComponent);
    const all = at(path);
    if (id === undefined) {
      if (method === 'POST') {
        check(path, body);
        const ip = path === 'addresses' ? { ip: `203.0.113.${next}` } : {};
        const made = { ...body, ...ip, id: `${path}-${next++}` };
        all.set(made.id, made);
        return made;
      }
      const from = Number(url.searchParams.get('page') ?? '0') * PAGE;
      const more = from + PAGE < all.size && { next: from / PAGE + 1 };
      return { items: [...all.values()].slice(from, from + PAGE), ...more };
    }
    const found = all.get(id);
    if (!found) throw new Refused(404, 'not_found');
    if (method === 'PUT') {
      check(path, { ...found, ...body });
      all.set(id, { ...found, ...body, id });
    }
    if (method !== 'DELETE') return all.get(id);
    if (isUsed(path, id)) throw new Refused(409, 'in_use');
    all.delete(id);
    return {};
  };
  const serve = async (request: IncomingMessage): Promise<readonly [status: number, body: unknown]> => {
    const { headers, method = '' } = request;
    const url = new URL(request.url ?? '', 'http://fake');
    log.push(`${method} /${url.pathname.split('/')[1]}`);
    const text = (await request.toArray()).join('');
    try {
      if (headers.authorization !== `Bearer ${TOKEN}`) throw new Refused(401, 'wrong_token');
      if (cloud.failure > 0) throw new Refused(cloud.failure, 'by_request_of_a_test');
      return [200, answer(method, url, text === '' ? {} : (JSON.parse(text) as Record<string, unknown>))];
    } catch (error) {
      const { message, status } = error instanceof Refused ? error : new Refused(400, 'bad_request');
      return [status, { error: { code: message, message } }];
    }
  };
  const server = createServer((request, response) => {
    serve(request).then(
      ([status, body]) => response.writeHead(status).end(JSON.stringify(body)),
      () => response.destroy(),
    );
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const cloud: FakeCloud = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: TOKEN,
    at,
    log,
    failure: 0,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return cloud;
}

/** A machine whose kubelet registers a node of this name. */
export function addServer(cloud: FakeCloud, name: string): void {
  const { size } = cloud.at('servers');
  const server = { id: `srv-${name}`, name, status: 'active', size: 'm1', zone: 'north-1a', ip: `10.1.0.${size + 1}` };
  cloud.at('servers').set(server.id, server);
}
