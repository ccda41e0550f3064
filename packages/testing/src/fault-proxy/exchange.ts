/** One request through the proxy, with at most one fault. */
import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2';
import { request as httpsRequest, type Agent as HttpsAgent } from 'node:https';
import type { Clock } from '@outrigger/kube';
import type { MutableCall } from './api-call-recorder.ts';
import { statusOf, type Fault, type FaultRule, type RememberedAnswer } from './fault.ts';
import { FrameGate } from './frame-gate.ts';
import { LineGate } from './line-gate.ts';
import type { FrontConnection } from './tcp-front.ts';

/** Where requests go. */
export interface Target {
  readonly url: URL;
  readonly agent: Agent | HttpsAgent;
  /** For requests that bring no `Authorization` themselves. */
  readonly agentWithCertificate?: HttpsAgent;
}

export interface ExchangeOptions {
  readonly request: IncomingMessage | Http2ServerRequest;
  readonly response: ServerResponse | Http2ServerResponse;
  readonly target: Target;
  readonly clock: Clock;
  readonly connection: FrontConnection | undefined;
  readonly call: MutableCall;
  readonly rule: FaultRule | undefined;
}

type Headers = Record<string, string | string[]>;

/** Belong to one connection (RFC 9110 §7.6.1); HTTP/2 forbids them. */
const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade', 'te']);

export class Exchange {
  readonly #options: ExchangeOptions;
  readonly #gone = new AbortController();
  #streaming = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
    options.response.on('close', () => this.#gone.abort());
    options.response.on('error', () => {});
    options.request.on('error', () => {});
  }

  /** Its answer has begun and has not ended. */
  get isOpenWatch(): boolean {
    return this.#streaming && this.#options.call.verb === 'watch' && !this.#gone.signal.aborted;
  }

  cut(how: 'end' | 'reset'): void {
    if (how === 'reset') this.#options.connection?.reset();
    else this.#options.response.end();
    this.abandon();
  }

  /** The server's side of it ends too. */
  abandon(): void {
    this.#gone.abort();
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { call, rule, clock } = this.#options;
    if (rule) call.fault = rule.fault.type;
    try {
      await this.#answer(rule?.fault);
    } catch (error) {
      if (!this.#gone.signal.aborted) this.#badGateway(error);
    } finally {
      call.durationMs = clock.monotonic() - call.startedAt;
    }
  }

  async #answer(fault: Fault | undefined): Promise<void> {
    const { connection, clock } = this.#options;
    switch (fault?.type) {
      case undefined:
        return this.#pass(await this.#forward());
      case 'latency':
        await clock.sleep(fault.ms, this.#gone.signal);
        return this.#pass(await this.#forward());
      case 'reset':
        connection?.reset();
        return;
      case 'freeze':
        connection?.freeze();
        return;
      case 'hang':
        this.#options.request.resume();
        return this.#untilGone();
      case 'status': {
        const retryAfter: Headers =
          fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
        const body = Buffer.from(JSON.stringify(statusOf(fault)));
        return this.#send({ status: fault.code, headers: { 'content-type': 'application/json', ...retryAfter }, body });
      }
      case 'half-line':
        return this.#passUntil(fault.afterLines ?? 0, true);
      case 'cut-watch':
        return this.#passUntil(fault.afterEvents, false, fault.how);
      case 'stale-list':
        return this.#answerStale();
      case 'lose-answer': {
        const answer = await this.#receive(await this.#forward());
        if (answer.status >= 400) return this.#send(answer);
        connection?.reset();
        return;
      }
    }
  }

  async #answerStale(): Promise<void> {
    const { rule, call } = this.#options;
    const known = rule?.remembered.get(call.path);
    if (known) return this.#send(known);
    const answer = await this.#receive(await this.#forward());
    if (answer.status === 200) rule?.remembered.set(call.path, answer);
    return this.#send(answer);
  }

  /** Sends the request to the target and resolves when its answer begins. */
  async #forward(): Promise<IncomingMessage> {
    const { request, target, call, rule } = this.#options;
    const headers = passingHeaders(request.headers);
    // Lines can be counted in plain text only.
    if (rule) delete headers['accept-encoding'];
    headers['host'] = target.url.host;
    const secure = target.url.protocol === 'https:';
    const agent = headers['authorization'] === undefined ? target.agentWithCertificate : undefined;
    const outgoing = (secure ? httpsRequest : httpRequest)(new URL(call.path, target.url), {
      method: call.method,
      headers,
      agent: agent ?? target.agent,
      signal: this.#gone.signal,
    });
    const answered = once(outgoing, 'response') as Promise<[IncomingMessage]>;
    request.on('data', (chunk: Buffer) => {
      call.requestBytes += chunk.length;
    });
    request.pipe(outgoing);
    const [answer] = await answered;
    // Whoever reads it hears of it; nobody else needs to.
    answer.on('error', () => {});
    return answer;
  }

  /** So many lines, or messages of a watch in protobuf, and if asked half of the next. */
  async #passUntil(count: number, half: boolean, how?: 'end' | 'reset'): Promise<void> {
    const answer = await this.#forward();
    const isFramed = /protobuf.*stream=watch/.test(answer.headers['content-type'] ?? '');
    return this.#pass(answer, isFramed ? new FrameGate(count, half) : new LineGate(count, half), how);
  }

  /** Streams the answer to the client, as far as the gate lets it. */
  async #pass(answer: IncomingMessage, gate?: LineGate | FrameGate, how: 'end' | 'reset' = 'end'): Promise<void> {
    const { call, response } = this.#options;
    const out = response as ServerResponse;
    call.status = answer.statusCode ?? 502;
    const headers = passingHeaders(answer.headers);
    // The length that is promised is not the length that comes: a client must notice by the end of the connection.
    out.writeHead(call.status, headers);
    out.flushHeaders?.();
    this.#streaming = true;
    if (gate?.closed) {
      this.cut(how);
      return;
    }
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      const passed = gate ? gate.take(chunk) : chunk;
      call.responseBytes += passed.length;
      if (passed.length > 0 && !out.write(passed)) await once(out, 'drain', { signal: this.#gone.signal });
      if (!gate?.closed) continue;
      if (gate.half) await this.#breakOff(Buffer.alloc(0));
      else this.cut(how);
      return;
    }
    this.#streaming = false;
    if (gate?.half) {
      await this.#breakOff(gate.rest());
      return;
    }
    out.end();
    await this.#untilGone();
  }

  /** Says this much more, and ends the connection in the middle of the answer. */
  async #breakOff(last: Buffer): Promise<void> {
    const { response, connection } = this.#options;
    await new Promise<void>((resolve) => void (response as ServerResponse).write(last, () => resolve()));
    await connection?.finish();
    this.abandon();
  }

  /** Reads the whole answer. */
  async #receive(answer: IncomingMessage): Promise<RememberedAnswer> {
    const chunks: Buffer[] = [];
    for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
    return {
      status: answer.statusCode ?? 502,
      headers: passingHeaders(answer.headers),
      body: Buffer.concat(chunks),
    };
  }

  async #send(answer: RememberedAnswer): Promise<void> {
    const { call, response } = this.#options;
    const out = response as ServerResponse;
    // What the client still sends is read, or an HTTP/1.1 connection could not go on.
    this.#options.request.resume();
    call.status = answer.status;
    call.responseBytes = answer.body.length;
    out.writeHead(answer.status, { ...answer.headers, 'content-length': String(answer.body.length) });
    out.end(answer.body);
    await this.#untilGone();
  }

  /** The target could not be reached, or left in the middle. */
  #badGateway(error: unknown): void {
    const { connection } = this.#options;
    if (this.#options.response.headersSent) {
      // The client must see a break, not a proper end.
      connection?.reset();
      return;
    }
    const message = `the proxy could not reach the target: ${error instanceof Error ? error.message : String(error)}`;
    const body = Buffer.from(JSON.stringify(statusOf({ type: 'status', code: 502, message })));
    void this.#send({ status: 502, headers: { 'content-type': 'application/json' }, body });
  }

  async #untilGone(): Promise<void> {
    const { signal } = this.#gone;
    if (!signal.aborted) await once(signal, 'abort');
  }
}

function passingHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const passing: Headers = {};
  for (const [name, value] of Object.entries(headers)) {
    // `:path` and its like are HTTP/2's own.
    if (value !== undefined && !name.startsWith(':') && !HOP_BY_HOP.has(name)) passing[name] = value;
  }
  return passing;
}
