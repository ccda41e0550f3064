/** Bytes as a socket gives them: in chunks that end anywhere. */
import * as fc from 'fast-check';

/** Sizes of the chunks, taken round and round. */
export const chunkSizes: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 1, max: 9 }), {
  minLength: 1,
  maxLength: 40,
});

export function cutInto(sizes: readonly number[], bytes: Buffer): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    chunks.push(new Uint8Array(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}

// oxlint-disable-next-line typescript/require-await -- what comes from a socket, without one
export async function* streamOf(chunks: Iterable<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  yield* chunks;
}
