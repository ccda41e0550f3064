/** An end point on 127.0.0.1 that passes requests on and counts them by API and action: whoever asks, whatever answers. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** `{ 'ec2:DescribeInstances': 3 }`, sorted. */
export type CallCounts = Readonly<Record<string, number>>;

export interface CountedEndpoint extends AsyncDisposable {
  readonly url: string;
  /** Since it was asked last. */
  takeCounts(): CallCounts;
}

export async function countedEndpoint(behind: string): Promise<CountedEndpoint> {
  let counts = new Map<string, number>();
  const passOn = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      const body = Buffer.concat(await request.toArray());
      const { authorization = '', 'content-type': type = '', 'x-amz-date': date = '' } = request.headers;
      const action = nameOf(authorization, body.toString());
      if (action !== undefined) counts.set(action, (counts.get(action) ?? 0) + 1);
      const answer = await fetch(new URL(request.url ?? '/', behind), {
        method: request.method ?? 'POST',
        headers: { authorization, 'content-type': type, 'x-amz-date': String(date) },
        body: request.method === 'GET' ? null : body,
      });
      const text = Buffer.from(await answer.arrayBuffer());
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/xml' }).end(text);
    } catch {
      response.destroy();
    }
  };
  const server = createServer((request, response) => void passOn(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    takeCounts() {
      const taken = Object.fromEntries([...counts].toSorted(([a], [b]) => a.localeCompare(b)));
      counts = new Map();
      return taken;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

/** Both ELB APIs are signed for one name: the version tells them apart. */
function nameOf(authorization: string, body: string): string | undefined {
  const form = new URLSearchParams(body);
  const action = form.get('Action');
  if (action === null) return undefined;
  const service = /\/(?<service>[a-z0-9]+)\/aws4_request/u.exec(authorization)?.groups?.['service'] ?? 'unsigned';
  if (service !== 'elasticloadbalancing') return `${service}:${action}`;
  return `${form.get('Version') === '2015-12-01' ? 'elbv2' : 'elb'}:${action}`;
}
