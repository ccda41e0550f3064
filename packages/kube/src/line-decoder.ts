/** Splits a byte stream into lines: how a watch arrives. Works on bytes, so that characters cut between chunks stay whole. */
import { LONGEST_BYTES } from './protobuf/frame-decoder.ts';
import { ResponseError } from './response-body.ts';

const NEWLINE = 10;

/**
 * The lines of `chunks`, without their ends; empty ones are left out. Pulls a chunk only when all lines before it are
 * taken, so that a slow reader slows the server. What follows the last newline comes as a last line: it may be half.
 * Throws a `ResponseError` for a line that does not end.
 */
export async function* decodeLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  let pieces: Buffer[] = [];
  let held = 0;
  for await (const bytes of chunks) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      const line =
        pieces.length === 0
          ? chunk.toString('utf8', start, end)
          : Buffer.concat([...pieces, chunk.subarray(start, end)]).toString();
      pieces = [];
      held = 0;
      start = end + 1;
      if (line !== '') yield line;
    }
    if (start === chunk.length) continue;
    pieces.push(chunk.subarray(start));
    held += chunk.length - start;
    if (held > LONGEST_BYTES)
      throw new ResponseError('response-invalid', `a line has no end after ${held} bytes of it`);
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString();
}
