/** A keystone and services on 127.0.0.1 for tests of the client: what they answer is the test's to say. */
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import type { CallContext, ProviderHost } from '@outrigger/cloud-provider';
import { silentLogger, type Clock, type Logger } from '@outrigger/kube';
import { globalSection, metadataSection } from '../config/cloud-conf-keys.ts';
import type { CloudConfig, GlobalConfig } from '../config/cloud-config.ts';
import { readCloudConfig } from '../config/read-cloud-config.ts';
import { connectionOf } from './connection.ts';
import { OpenStackClient } from './openstack-client.ts';

export interface ScriptedRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: unknown;
}

export interface ScriptedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** JSON, or text as it is. */
  readonly body?: unknown;
}

type Script = (request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer> | undefined;

export interface ScriptedCloud extends AsyncDisposable {
  readonly origin: string;
  /** Every request, in order. */
  readonly requests: ScriptedRequest[];
  /** Tokens that were given, in order: `token-1`, … */
  readonly tokens: string[];
  /** What the next token is. Default: `token-<number>`. */
  nextToken: string | undefined;
  /** Tokens that services take. */
  readonly valid: Set<string>;
  /** What the services answer. */
  script: Script;
  /** Milliseconds. */
  tokenLifeMs: number;
  /** Of keystone's clock, against the client's. */
  skewMs: number;
  /** Keystone's answer in place of a token. */
  keystone: () => ScriptedAnswer | Promise<ScriptedAnswer | undefined> | undefined;
  catalogue: unknown;
}

/** What every service answers to a token that it does not take. */
export const unauthorized: ScriptedAnswer = {
  status: 401,
  body: { error: { code: 401, title: 'Unauthorized', message: 'The request you have made requires authentication.' } },
};

/** All services under one origin: `/identity`, `/compute/v2.1`, `/network`, `/load-balancer`. */
export async function startScriptedCloud(clock: Clock, tls?: ServerOptions): Promise<ScriptedCloud> {
  const listener: RequestListener = (incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk);
      const text = Buffer.concat(chunks).toString();
      const body: unknown = text === '' ? undefined : JSON.parse(text);
      const request = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers, body };
      cloud.requests.push(request);
      const answer = await answerTo(request);
      if (answer.status === -1) {
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      outgoing.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body));
    })();
  };
  const answerTo = async (request: ScriptedRequest): Promise<ScriptedAnswer> => {
    if (request.path === '/identity/v3/auth/tokens') return (await cloud.keystone()) ?? giveToken();
    const token = request.headers['x-auth-token'];
    if (typeof token !== 'string' || !cloud.valid.has(token)) return unauthorized;
    return (await cloud.script(request)) ?? { status: 404, body: 'no such page' };
  };
  const giveToken = (): ScriptedAnswer => {
    const value = cloud.nextToken ?? `token-${cloud.tokens.length + 1}`;
    cloud.tokens.push(value);
    cloud.valid.add(value);
    const issued = clock.now() + cloud.skewMs;
    const token = {
      issued_at: new Date(issued).toISOString(),
      expires_at: new Date(issued + cloud.tokenLifeMs).toISOString(),
      project: { id: 'p1', name: 'p' },
      catalog: cloud.catalogue,
    };
    return { status: 201, headers: { 'x-subject-token': value }, body: { token } };
  };
  const server: Server = tls ? createSecureServer(tls, listener) : createServer(listener);
  // On a slow machine, a connection that idles for its usual 5 s would be closed under a request.
  server.keepAliveTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const endpoint = (type: string, path: string): object => ({
    type,
    endpoints: [{ interface: 'public', region: 'one', region_id: 'one', url: `${origin}${path}` }],
  });
  const cloud: ScriptedCloud = {
    origin,
    requests: [],
    tokens: [],
    nextToken: undefined,
    valid: new Set(),
    script: () => undefined,
    tokenLifeMs: 3_600_000,
    skewMs: 0,
    keystone: () => undefined,
    catalogue: [
      endpoint('compute', '/compute/v2.1'),
      endpoint('network', '/network'),
      endpoint('load-balancer', '/load-balancer/v2'),
    ],
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return cloud;
}

export interface ClientRig extends AsyncDisposable {
  readonly client: OpenStackClient;
  readonly opened: OpenedProvider;
  call(signal?: AbortSignal): CallContext;
}

export interface ClientRigOptions {
  readonly logger?: Logger;
  readonly requestTimeoutMs?: number;
  /** Default: empty. */
  readonly env?: Readonly<Record<string, string>>;
  /** How often the host sends a request that may be repeated. Default: 1, so that no test waits for the pauses between. */
  readonly maxAttempts?: number;
}

/** The client as the host runs it: behind the call budget, its secrets redacted. */
export async function openClient(
  set: Partial<GlobalConfig>,
  clock: Clock,
  { logger = silentLogger, requestTimeoutMs, env = {}, maxAttempts = 1 }: ClientRigOptions = {},
): Promise<ClientRig> {
  let host: ProviderHost | undefined;
  const provider = {
    name: 'openstack',
    open: (given: ProviderHost) => {
      host = given;
      return Promise.resolve({});
    },
    close: () => Promise.resolve(),
  };
  const opened = await openProvider(provider, {
    cluster: { id: 'c', name: 'c' },
    clock,
    logger,
    random: () => 0,
    budget: { maxAttempts },
  });
  if (!host) throw new Error('the provider was not opened');
  const connection = await connectionOf(await configOf(set, requestTimeoutMs), 'cloud.conf', env);
  const client = new OpenStackClient({ connection, host, userAgent: 'test/1' });
  const { signal: never } = new AbortController();
  return {
    client,
    opened,
    call: (signal = never) => opened.callContext({ signal, priority: 'normal' }),
    [Symbol.asyncDispose]: async () => {
      await client[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
}

async function configOf(set: Partial<GlobalConfig>, requestTimeoutMs?: number): Promise<CloudConfig> {
  const keys: Readonly<Record<string, { readonly key: string }>> = globalSection.keys;
  const lines = Object.entries(set).map(([member, value]) => `${keys[member]?.key} = "${String(value)}"`);
  const timeout =
    requestTimeoutMs === undefined
      ? []
      : [`[Metadata]`, `${metadataSection.keys.requestTimeoutMs.key} = ${requestTimeoutMs}ms`];
  const text = ['[Global]', ...lines, ...timeout].join('\n');
  const environment = { env: {}, workingDirectory: '/', homeDirectory: '/' };
  return readCloudConfig({ text, fileName: 'cloud.conf' }, environment, (warning) => {
    throw new Error(warning);
  });
}

/** What a user of a password sets. */
export function passwordOf({ origin }: ScriptedCloud): Partial<GlobalConfig> {
  return {
    authUrl: `${origin}/identity`,
    username: 'me',
    password: 'hunter2-password',
    domainName: 'Default',
    tenantName: 'p',
    region: 'one',
  };
}
