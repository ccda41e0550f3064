/** Reads the answers of an API server: whole bodies, and errors as `StatusError`. */
import { PROTOBUF_TYPE, readStatus } from './protobuf/envelope.ts';
import { retryAfterMs } from './retry-after.ts';
import { StatusError, type Status } from './status-error.ts';
import type { TransportResponse } from './transport.ts';

/** V8's longest string is 512 Mi characters; a list near that would also block the event loop for seconds. */
const MAX_BODY_BYTES = 256 * 2 ** 20;
/** Of a page, which can be asked for again with fewer objects: while it is read, it takes four times as much memory. */
export const MAX_PAGE_BYTES: number = 16 * 2 ** 20;
/** How much of a body that is no Status is read. */
const MAX_ERROR_BODY_BYTES = 1 << 20;

const BRAND = Symbol.for('outrigger.kube.ResponseError');

/** The server answered, but with something that cannot be what was asked for. */
export class ResponseError extends Error {
  override readonly name = 'ResponseError';
  /** `response-invalid`: no JSON, or cut off. `response-too-large`: ask for pages, or shorter ones. `response-unexpected`: JSON, but of another shape. */
  readonly code: 'response-invalid' | 'response-too-large' | 'response-unexpected';

  constructor(code: ResponseError['code'], message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether this is a `ResponseError`, of whatever copy of this package. */
export function isResponseError(error: unknown): error is ResponseError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

async function readBytes(response: TransportResponse, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** Whether the body is protobuf: a server says what it answers with, whatever it was asked for. */
export function isProtobuf(response: TransportResponse): boolean {
  return response.headers['content-type']?.startsWith(PROTOBUF_TYPE) ?? false;
}

/** The body as JSON. `request` is for the error: `GET /api/v1/nodes`. */
export async function readJson(request: string, response: TransportResponse): Promise<unknown> {
  return parseJson(request, (await readBody(request, response)).toString());
}

/** The whole body, of so many bytes at most. */
export async function readBody(
  request: string,
  response: TransportResponse,
  limit: number = MAX_BODY_BYTES,
): Promise<Buffer> {
  const bytes = await readBytes(response, limit);
  if (!bytes) {
    throw new ResponseError(
      'response-too-large',
      `${request}: the answer is longer than ${limit} bytes; list in pages of fewer objects (limit)`,
    );
  }
  return bytes;
}

/** JSON, or a `ResponseError` that says whose. Never quotes the text: it may be a Secret. */
export function parseJson(request: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // V8's own message quotes the text.
    throw new ResponseError('response-invalid', `${request}: ${text.length} characters that are not JSON, or cut off`);
  }
}

/** Reads the body to its end and forgets it. */
export async function discard(response: TransportResponse): Promise<void> {
  for await (const _ of response.body);
}

/** The error that an answer with a status of 300 or more is. */
export async function readError(request: string, response: TransportResponse): Promise<StatusError> {
  // A proxy that cuts its own error page short must not hide the status code.
  const bytes = await readBytes(response, MAX_ERROR_BODY_BYTES).catch(() => undefined);
  const status = bytes && (isProtobuf(response) ? asProtobufStatus(bytes) : asStatus(bytes.toString()));
  return new StatusError(
    request,
    response.status,
    { ...(status ?? { message: describe(response, bytes?.toString() ?? '') }), code: response.status },
    {
      retryAfterMs: retryAfterMs(response.headers),
    },
  );
}

function asProtobufStatus(bytes: Buffer): Status | undefined {
  try {
    return readStatus(bytes);
  } catch {
    return undefined;
  }
}

function asStatus(text: string): Status | undefined {
  if (!text.startsWith('{')) return undefined;
  try {
    const body = JSON.parse(text) as Status;
    return body.kind === 'Status' ? body : undefined;
  } catch {
    return undefined;
  }
}

/** What to say of a page that some proxy wrote. By the mark, what redacts knows that a secret may be cut. */
function describe(response: TransportResponse, text: string): string {
  const type = response.headers['content-type'] ?? 'no content type';
  const excerpt = withoutTags(text)
    .replaceAll(/bearer\s+\S+/gi, 'Bearer ***')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/^(.{200}).+/su, '$1…');
  return `not an API server's answer (${type})${excerpt && `: ${excerpt}`}`;
}

/** An element without an end is cut off to the end of the text: looking for the end of each would take the square of its length. */
function withoutTags(text: string): string {
  return text.replaceAll(/<(style|script)(?:[\s\S]*?<\/\1>|[\s\S]*$)/gi, ' ').replaceAll(/<[^<>]*>/g, ' ');
}
