/** How a `TransportLayer` is written, and how layers are put on each other. */
import type { Transport, TransportLayer, TransportRequest, TransportResponse } from '../transport.ts';

/** A transport that sends by `send`, and closes `inner` when it is closed. */
export function layerOver(
  inner: Transport,
  send: (request: TransportRequest) => Promise<TransportResponse>,
): Transport {
  return { send, [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose]() };
}

/** Puts layers over a transport. The first in the list is the outermost. */
export function stackLayers(inner: Transport, layers: readonly TransportLayer[]): Transport {
  return layers.reduceRight((transport, layer) => layer(transport), inner);
}

/** Adds headers to each request; those of the request itself win. */
export function withRequestHeaders(headers: Readonly<Record<string, string>>): TransportLayer {
  return (inner) =>
    layerOver(inner, (request) => inner.send({ ...request, headers: { ...headers, ...request.headers } }));
}

/** More than the body of any error answer: a longer one is cut off instead of read. */
const MAX_DISCARD_BYTES = 64 * 1024;

/** Reads an answer that nobody wants to its end, so that its connection can be used again. Never throws. */
export async function discardAnswer(response: TransportResponse): Promise<void> {
  let bytes = 0;
  try {
    for await (const chunk of response.body) {
      bytes += chunk.length;
      if (bytes > MAX_DISCARD_BYTES) break;
    }
  } catch {
    // It broke off: then it is gone, which is what was wanted.
  }
}
