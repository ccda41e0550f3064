/** The REST cloud that packages/cloud-provider/examples/my-cloud.ts is about: `GET /servers`, `GET /servers/{id}`, and failures on request. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SmallServer {
  status: 'active' | 'stopped' | 'error';
  readonly id: string;
  readonly name: string;
  readonly plan: string;
  readonly zone: string;
  readonly region: string;
  readonly privateIp: string;
}

export interface SmallCloud extends AsyncDisposable {
  readonly endpoint: string;
  /** By name. */
  readonly servers: Map<string, SmallServer>;
  requests: number;
  /** Every request is answered with this status, or an empty list. 0: none is. */
  failure: number | 'empty';
}

export const SMALL_CLOUD_TOKEN = 'token-of-the-small-cloud';

export async function startSmallCloud(): Promise<SmallCloud> {
  const http = createServer((request, response) => {
    cloud.requests++;
    const answer = (status: number, body: unknown): void => void response.writeHead(status).end(JSON.stringify(body));
    const id = /^\/servers\/(.+)$/.exec(request.url ?? '')?.[1];
    if (request.headers.authorization !== `Bearer ${SMALL_CLOUD_TOKEN}`) answer(401, { error: 'token' });
    else if (typeof cloud.failure === 'number' && cloud.failure > 0) answer(cloud.failure, { error: 'by request' });
    else if (id === undefined) answer(200, { servers: cloud.failure === 'empty' ? [] : [...cloud.servers.values()] });
    else {
      const found = [...cloud.servers.values()].find((server) => server.id === decodeURIComponent(id));
      if (found) answer(200, found);
      else answer(404, { error: 'server_not_found' });
    }
  });
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve));
  const cloud: SmallCloud = {
    endpoint: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    servers: new Map(),
    requests: 0,
    failure: 0,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
  return cloud;
}

export function smallServer(name: string): SmallServer {
  return { id: `srv-${name}`, name, status: 'active', plan: 'm1', zone: 'z1', region: 'r1', privateIp: '10.1.0.1' };
}
