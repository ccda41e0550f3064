/** Token services on 127.0.0.1, as a table: what is not in it is answered with 404. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@outrigger/cloud-provider';
import type { FakeClock } from '@outrigger/testing';
import { imageCredentialsCommand } from './command.ts';
import { systemClock } from './system-clock.ts';

export interface AskedOfService {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly form: URLSearchParams;
}

export interface ServiceAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `json`, or nothing. */
  readonly text?: string;
  readonly json?: unknown;
}

type Service = (asked: AskedOfService) => ServiceAnswer;

export interface FakeServices extends AsyncDisposable {
  readonly url: string;
  readonly asked: readonly AskedOfService[];
}

/** By method and path without the query: `POST /v1/token`. */
export async function startFakeServices(services: Readonly<Record<string, Service>>): Promise<FakeServices> {
  const asked: AskedOfService[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const { headers, method = '', url = '' } = request;
      const one: AskedOfService = { method, path: url, headers, body, form: new URLSearchParams(body) };
      asked.push(one);
      const answer = services[`${method} ${url.split('?')[0]}`]?.(one) ?? { status: 404, text: 'secret page' };
      response.writeHead(answer.status ?? 200, answer.headers);
      response.end(answer.text ?? (answer.json === undefined ? '' : JSON.stringify(answer.json)));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => void server.close(resolve));
    },
  };
}

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Of stdout, where it is a response. */
  readonly response: {
    readonly kind: string;
    readonly apiVersion: string;
    readonly cacheKeyType: string;
    readonly cacheDuration: string;
    readonly auth: Readonly<Record<string, { readonly username: string; readonly password: string }>>;
  };
}

/** For so many seconds, less what a busy machine takes to answer. */
export function assertKeptFor(seconds: number, { cacheDuration }: Said['response']): void {
  assert.match(cacheDuration, /^\d+s$/u);
  const kept = Number.parseInt(cacheDuration, 10);
  assert.ok(kept > seconds - 30 && kept <= seconds + 1, `${cacheDuration}, not ${seconds}s`);
}

export interface AskOptions {
  readonly image?: string;
  readonly token?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
  /** The executable. */
  readonly self?: string;
  /** In place of the request. */
  readonly stdin?: string;
}

/** As the kubelet asks. */
export async function askProgram(args: readonly string[], options: AskOptions = {}): Promise<Said> {
  const { annotations, clock = systemClock, env = {}, image, self = '', stdin, token } = options;
  const request = {
    kind: 'CredentialProviderRequest',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    image,
    ...(token !== undefined && { serviceAccountToken: token }),
    ...(annotations && { serviceAccountAnnotations: annotations }),
  };
  const [out, err]: [string[], string[]] = [[], []];
  const code = await imageCredentialsCommand(args, {
    stdin: (async function* () {
      yield stdin ?? JSON.stringify(request);
    })(),
    stdout: { write: (text) => out.push(text) },
    stderr: { write: (text) => err.push(text) },
    env,
    clock,
    self,
    ended: () => Promise.resolve(),
  });
  const stdout = out.join('');
  const response = (code === 0 && stdout.startsWith('{') ? JSON.parse(stdout) : {}) as Said['response'];
  return { code, stdout, stderr: err.join(''), response };
}

/** The answer, which waits for real sockets and for this clock: it is moved on by steps until there is one. */
export async function whileTimePasses<T>(clock: FakeClock, stepMs: number, answer: Promise<T>): Promise<T> {
  const state = { isDone: false };
  const end = (): void => void (state.isDone = true);
  answer.then(end, end);
  while (!state.isDone) {
    await new Promise((resolve) => void setTimeout(resolve, 20));
    await clock.advance(stepMs);
  }
  return answer;
}
