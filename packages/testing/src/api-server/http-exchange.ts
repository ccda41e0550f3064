/** One request and its answer, the same over HTTP/1.1 and HTTP/2. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonObject, type ApiObject } from './api-object.ts';
import { badRequest, StatusError } from './status-error.ts';

/** Over HTTP/2 these are the compatibility classes of `node:http2`, which are alike in all that is used here. */
export type HttpRequest = IncomingMessage;
export type HttpResponse = ServerResponse;

/** The real server's limit for a request body. */
const MAX_BODY = 3 * 1024 * 1024;
/** Items of a list are put together to chunks of about this size. */
const CHUNK = 262_144;

/** Throws 413 for a body that is too large. */
export async function readBody(request: HttpRequest): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY)
      throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: limit is ${MAX_BODY}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Throws 400 for a body that is no JSON object. */
export function parseObject(body: Buffer, what: string): ApiObject {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch (error) {
    throw badRequest(`the object provided is unrecognized (must be of type ${what}): ${(error as Error).message}`);
  }
  if (!isJsonObject(value)) throw badRequest(`the object provided is unrecognized (must be of type ${what})`);
  return value;
}

export function sendJson(response: HttpResponse, status: number, value: unknown): void {
  sendBytes(response, status, Buffer.from(JSON.stringify(value)));
}

export function sendBytes(response: HttpResponse, status: number, bytes: Buffer, type = 'application/json'): void {
  response.writeHead(status, {
    'content-type': type,
    'content-length': bytes.length,
    'cache-control': 'no-cache, private',
  });
  response.end(bytes);
}

export function sendError(response: HttpResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status =
    error instanceof StatusError
      ? error
      : new StatusError(
          500,
          'InternalError',
          `Internal error occurred: ${error instanceof Error ? error.message : String(error)}`,
        );
  const retryAfter = status.details?.['retryAfterSeconds'];
  if (typeof retryAfter === 'number') response.setHeader('retry-after', String(retryAfter));
  sendJson(response, status.code, status.toStatus());
}

/** Sends chunks no faster than the client reads them. Ends early when the client goes away. */
export async function sendChunks(response: HttpResponse, parts: Iterable<Buffer>): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
  let pending: Buffer[] = [];
  let size = 0;
  const flush = (): boolean => {
    const bytes = Buffer.concat(pending);
    pending = [];
    size = 0;
    return response.write(bytes);
  };
  for (const part of parts) {
    pending.push(part);
    size += part.length;
    if (size < CHUNK) continue;
    if (!flush()) await drained(response);
    // A turn for the others, also when the socket takes everything at once.
    else await new Promise<void>((resolve) => void setImmediate(resolve));
    if (response.destroyed || response.writableEnded) return;
  }
  response.end(Buffer.concat(pending));
}

function drained(response: HttpResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.on('drain', done);
    response.on('close', done);
  });
}
