/** Fetches OpenAPI v3 documents from an API server: by URL and flags, or by kubeconfig. */
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { dirname, resolve } from 'node:path';
import { parse } from 'yaml';

export interface Server {
  readonly url: string;
  readonly ca?: Buffer | undefined;
  readonly cert?: Buffer | undefined;
  readonly key?: Buffer | undefined;
  readonly token?: string | undefined;
}

interface Kubeconfig {
  'current-context': string;
  contexts: { name: string; context: { cluster: string; user: string } }[];
  clusters: { name: string; cluster: Record<string, string> }[];
  users: { name: string; user: Record<string, string> }[];
}

/** The server of the current context. Certificates and tokens only; a generator needs no exec plugins. */
export function serverFromKubeconfig(file: string): Server {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig;
  const context = config.contexts.find((entry) => entry.name === config['current-context'])?.context;
  const cluster = config.clusters.find((entry) => entry.name === context?.cluster)?.cluster;
  const user = config.users.find((entry) => entry.name === context?.user)?.user;
  if (!cluster?.['server'] || !user)
    throw new Error(`${file}: current-context names no cluster with a server and a user`);
  const material = (from: Record<string, string>, key: string): Buffer | undefined => {
    const data = from[`${key}-data`];
    if (data) return Buffer.from(data, 'base64');
    const path = from[key];
    return path ? readFileSync(resolve(dirname(file), path)) : undefined;
  };
  return {
    url: cluster['server'],
    ca: material(cluster, 'certificate-authority'),
    cert: material(user, 'client-certificate'),
    key: material(user, 'client-key'),
    token: user['token'],
  };
}

export function fetchDocument(server: Server, document: string): Promise<unknown> {
  const url = new URL(`/openapi/v3/${document}`, server.url);
  return new Promise((done, fail) => {
    const call = request(
      url,
      {
        ca: server.ca,
        cert: server.cert,
        key: server.key,
        headers: { accept: 'application/json', ...(server.token && { authorization: `Bearer ${server.token}` }) },
      },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => void chunks.push(chunk));
        answer.on('error', fail);
        answer.on('end', () => {
          if (answer.statusCode !== 200) fail(new Error(`GET ${url.href}: ${answer.statusCode}`));
          else done(JSON.parse(Buffer.concat(chunks).toString()));
        });
      },
    );
    call.on('error', fail);
    call.end();
  });
}
