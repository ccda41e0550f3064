/**
 * A reverse proxy that fails on demand, before an API server or a cloud's HTTP API. Entry point: `startFaultProxy`.
 *
 *     client ──TCP──▶ front (reset, freeze) ──▶ inner server (TLS, HTTP/1.1 and HTTP/2; rules, record) ──▶ target
 */
import { once } from 'node:events';
import { Agent as HttpAgent, createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createSecureServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { Agent as HttpsAgent } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { systemClock, type Clock } from '@outrigger/kube';
import { CertificateAuthority } from '../control-plane/certificate-authority.ts';
import { ApiCallRecorder } from './api-call-recorder.ts';
import { FaultRule, type FaultRuleOptions } from './fault.ts';
import { Exchange, type Target } from './exchange.ts';
import { requestInfoOf } from './request-info.ts';
import { TcpFront } from './tcp-front.ts';

export interface FaultProxyOptions {
  /** `https://127.0.0.1:6443` or `http://…`. */
  readonly target: string;
  /** PEM text of the authority of the target's certificate. Default: the system's. */
  readonly certificateAuthority?: string;
  /** With what the proxy proves itself to the target for requests without `Authorization`: client certificates do not pass a proxy. */
  readonly clientCertificate?: { readonly certificate: string; readonly key: string };
  /** Serve HTTPS (HTTP/1.1 and HTTP/2). Default: as the target does. */
  readonly tls?: boolean;
  readonly clock?: Clock;
}

export interface FaultProxy extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`. */
  readonly url: string;
  /** PEM text, for a kubeconfig; `undefined` without TLS. */
  readonly certificateAuthority: string | undefined;
  /** Every request, answered or not. */
  readonly calls: ApiCallRecorder;
  /** Watches that are open now. */
  readonly openWatches: number;
  /** Adds a rule. Of the rules that fit a request the first one added strikes. */
  add(rule: FaultRuleOptions): FaultRule;
  /** Removes all rules. */
  clear(): void;
  /** Cuts all open watches now, properly or by TCP reset; gives their number. */
  cutWatches(how?: 'end' | 'reset'): number;
  /** Resets all connections. */
  resetConnections(): void;
  /** All connections, and new ones until `thaw`, take bytes and say nothing. */
  freeze(): void;
  thaw(): void;
}

export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const clock = options.clock ?? systemClock;
  const tls = options.tls ?? options.target.startsWith('https:');
  const authority = tls ? await CertificateAuthority.create(clock.now()) : undefined;
  const serving = await authority?.signServing({ dns: ['localhost'], ips: ['127.0.0.1'] });
  const inner = serving
    ? createSecureServer({ allowHTTP1: true, cert: serving.certificate, key: serving.key })
    : createServer();
  // A watch is a request that takes hours.
  if ('requestTimeout' in inner) inner.requestTimeout = 0;
  const proxy = new RunningProxy(options, clock, authority?.certificate, inner as Server);
  await proxy.listen(tls);
  return proxy;
}

class RunningProxy implements FaultProxy {
  readonly certificateAuthority: string | undefined;
  readonly calls: ApiCallRecorder = new ApiCallRecorder();
  readonly #clock: Clock;
  readonly #target: Target;
  readonly #inner: Server;
  readonly #exchanges = new Set<Exchange>();
  readonly #sockets = new Set<Socket>();
  #rules: FaultRule[] = [];
  #front: TcpFront | undefined;
  #url = '';

  constructor(options: FaultProxyOptions, clock: Clock, certificateAuthority: string | undefined, inner: Server) {
    this.certificateAuthority = certificateAuthority;
    this.#clock = clock;
    this.#inner = inner;
    const url = new URL(options.target);
    const { clientCertificate: own } = options;
    const ca = options.certificateAuthority === undefined ? {} : { ca: options.certificateAuthority };
    const secure = url.protocol === 'https:';
    this.#target = {
      url,
      agent: secure ? new HttpsAgent({ keepAlive: true, ...ca }) : new HttpAgent({ keepAlive: true }),
      ...(secure &&
        own && {
          agentWithCertificate: new HttpsAgent({ keepAlive: true, ...ca, cert: own.certificate, key: own.key }),
        }),
    };
    inner.on('request', (request: IncomingMessage, response: ServerResponse) => this.#serve(request, response));
    inner.on('connection', (socket: Socket) => {
      // `node:http` does so by itself, `node:http2` does not: 40 ms for each small answer.
      socket.setNoDelay(true);
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
    for (const event of ['sessionError', 'clientError', 'tlsClientError']) inner.on(event, () => {});
  }

  async listen(tls: boolean): Promise<void> {
    this.#inner.listen(0, '127.0.0.1');
    await once(this.#inner, 'listening');
    this.#front = new TcpFront((this.#inner.address() as AddressInfo).port);
    this.#url = `${tls ? 'https' : 'http'}://127.0.0.1:${await this.#front.listen()}`;
  }

  get url(): string {
    return this.#url;
  }

  get openWatches(): number {
    return [...this.#exchanges].filter((exchange) => exchange.isOpenWatch).length;
  }

  add(options: FaultRuleOptions): FaultRule {
    const rule = new FaultRule(options);
    this.#rules.push(rule);
    return rule;
  }

  clear(): void {
    for (const rule of this.#rules) rule.remove();
    this.#rules = [];
  }

  cutWatches(how: 'end' | 'reset' = 'end'): number {
    const watches = [...this.#exchanges].filter((exchange) => exchange.isOpenWatch);
    for (const watch of watches) watch.cut(how);
    return watches.length;
  }

  resetConnections(): void {
    for (const connection of this.#front?.connections ?? []) connection.reset();
  }

  freeze(): void {
    this.#front?.freeze();
  }

  thaw(): void {
    this.#front?.thaw();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const exchange of this.#exchanges) exchange.abandon();
    await this.#front?.[Symbol.asyncDispose]();
    this.#target.agent.destroy();
    this.#target.agentWithCertificate?.destroy();
    const closed = new Promise<void>((resolve) => void this.#inner.close(() => resolve()));
    // One that stands in the middle of a request's body would not notice that its peer has gone.
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #serve(request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void {
    const { method = 'GET', url: path = '/' } = request;
    const userAgent = request.headers['user-agent'] ?? '';
    const rule = this.#rules.find((rule) => rule.strikes({ method, path, userAgent, ...requestInfoOf(method, path) }));
    const connection = this.#front?.connectionOf(request.socket.remotePort);
    const call = this.calls.begin({
      method,
      path,
      userAgent,
      connection: connection?.id ?? 0,
      httpVersion: request.httpVersion,
      startedAt: this.#clock.monotonic(),
    });
    const exchange = new Exchange({
      request,
      response,
      target: this.#target,
      clock: this.#clock,
      connection,
      call,
      rule,
    });
    this.#exchanges.add(exchange);
    void exchange.run().finally(() => this.#exchanges.delete(exchange));
  }
}
