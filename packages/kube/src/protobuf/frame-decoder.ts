/** Splits a byte stream into messages that follow their length: how a watch arrives in protobuf. */
import { ResponseError } from '../response-body.ts';
import { UnreadableMessageError } from './message-reader.ts';

/** 32 bits, most significant byte first. */
const LENGTH_BYTES = 4;
/** The API server takes no object of more than 3 MiB. */
const LONGEST_BYTES = 64 * 2 ** 20;

/**
 * The messages of `chunks`. Pulls a chunk only when all messages before it are taken, so that a slow reader slows the server;
 * keeps what has come, never what a length promises. Throws an `UnreadableMessageError` for a length that cannot be one, a
 * `ResponseError` for a stream that ends within a message.
 */
export async function* decodeFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, void> {
  let pieces: Buffer[] = [];
  let held = 0;
  /** Of the message that is coming, its length included; at first only of the length. */
  let needed = LENGTH_BYTES;
  for await (const bytes of chunks) {
    pieces.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    held += bytes.byteLength;
    if (held < needed) continue;
    const chunk = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, held);
    let start = 0;
    for (;;) {
      needed = LENGTH_BYTES;
      if (held - start < needed) break;
      const length = chunk.readUInt32BE(start);
      if (length > LONGEST_BYTES) throw new UnreadableMessageError(`a message of ${length} bytes is announced`);
      needed += length;
      if (held - start < needed) break;
      yield chunk.subarray(start + LENGTH_BYTES, start + needed);
      start += needed;
    }
    held -= start;
    pieces = held > 0 ? [chunk.subarray(start)] : [];
  }
  if (held > 0)
    throw new ResponseError('response-invalid', `the stream ends within a message, after ${held} bytes of it`);
}
