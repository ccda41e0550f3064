/**
 * What a listener answers, said with the objects of `node:http` alone: the platform's `Request`, `Response` and `Headers` are those of
 * the copy of undici that Node has, which takes 6 MiB once one of them is named. Entry point: `listenerOf`.
 */
import type { IncomingMessage, RequestListener } from 'node:http';

/** A request. Its body and what else it says is with `incoming`. */
export interface HttpRequest {
  readonly method: string;
  /** Decoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly incoming: IncomingMessage;
}

export interface HttpAnswer {
  readonly status: number;
  /** Without the length of the body. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: none. */
  readonly body?: string;
}

/** Answers every request, and never rejects. */
export type HttpApp = (request: HttpRequest) => Promise<HttpAnswer>;

/** An answer in plain text. */
export function textAnswer(body: string, status: number = 200): HttpAnswer {
  return { status, headers: { 'Content-Type': 'text/plain; charset=UTF-8' }, body };
}

/** An answer in JSON. */
export function jsonAnswer(body: unknown, status: number = 200): HttpAnswer {
  return { status, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
}

/** The same with more headers. */
export function withHeaders(answer: HttpAnswer, headers: Readonly<Record<string, string>>): HttpAnswer {
  return { ...answer, headers: { ...answer.headers, ...headers } };
}

/** For a server of `node:http` or `node:https`. Of `HEAD`, Node leaves the body out. */
export function listenerOf(app: HttpApp): RequestListener {
  return (incoming, response) => {
    app(requestOf(incoming)).then(
      ({ body, headers, status }) => {
        const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) };
        response.writeHead(status, { ...headers, ...length }).end(body);
      },
      // Against its word. Whoever asked sees the connection end, and all others are served.
      () => response.destroy(),
    );
  };
}

/** What came over the wire, read. */
export function requestOf(incoming: IncomingMessage): HttpRequest {
  // To a proxy, all of the URL is sent. It is not read as a URL: `//a/b` is a path here, and `..` one that there is not.
  const sent = (incoming.url ?? '/').replace(/^https?:\/\/[^/?]*/iu, '');
  const at = `${sent}?`.indexOf('?');
  return {
    method: incoming.method ?? 'GET',
    path: decodedPath(sent.slice(0, at)),
    query: new URLSearchParams(sent.slice(at)),
    incoming,
  };
}

function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
