/** Splits a byte stream into messages that follow their length: how a watch arrives in protobuf. */
import { ResponseError } from '../response-body.ts';
import { UnreadableMessageError } from './message-reader.ts';

/** 32 bits, most significant byte first. */
const LENGTH_BYTES = 4;
/** The API server takes no object of more than 3 MiB. */
export const LONGEST_BYTES: number = 64 * 2 ** 20;

/**
 * The messages of `chunks`. Pulls a chunk only when all messages before it are taken, so that a slow reader slows the server;
 * keeps what has come, never what a length promises. Throws an `UnreadableMessageError` for a length that cannot be one, a
 * `ResponseError` for a stream that ends within a message.
 */
export async function* decodeFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer, void, void> {
  /** Of the message that is coming, where it lies in several chunks: only it is copied, not the chunks. */
  let pieces: Buffer[] = [];
  let held = 0;
  /** Its length, with the bytes that say it; as long as those have not all come, theirs. */
  let needed = LENGTH_BYTES;
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 0;
    while (at < chunk.length) {
      if (held === 0) needed = chunk.length - at < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + lengthAt(chunk, at);
      const piece = chunk.subarray(at, at + needed - held);
      at += piece.length;
      held += piece.length;
      pieces.push(piece);
      if (held < needed) break;
      const message = pieces.length === 1 ? piece : Buffer.concat(pieces, held);
      const whole = LENGTH_BYTES + lengthAt(message, 0);
      if (held < whole) {
        pieces = [message];
        needed = whole;
        continue;
      }
      pieces = [];
      held = 0;
      yield message.subarray(LENGTH_BYTES);
    }
  }
  if (held > 0) {
    throw new ResponseError('response-invalid', `the stream ends within a message, after ${held} bytes of it`);
  }
}

function lengthAt(bytes: Buffer, at: number): number {
  const length = bytes.readUInt32BE(at);
  if (length > LONGEST_BYTES) throw new UnreadableMessageError(`a message of ${length} bytes is announced`);
  return length;
}
