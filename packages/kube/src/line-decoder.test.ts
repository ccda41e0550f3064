import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { decodeLines } from './line-decoder.ts';

async function linesOf(chunks: Iterable<Uint8Array>): Promise<string[]> {
  // oxlint-disable-next-line typescript/require-await -- what comes from a socket, without one
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    yield* chunks;
  }
  return Array.fromAsync(decodeLines(source()));
}

test('however a text is cut into chunks, the lines come out whole', async () => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 8 })
    .map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 40 }),
      async (text, sizes) => {
        const bytes = Buffer.from(text);
        const chunks: Uint8Array[] = [];
        for (let at = 0, i = 0; at < bytes.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          chunks.push(new Uint8Array(bytes.subarray(at, at + size)));
          at += size;
        }
        assert.deepEqual(
          await linesOf(chunks),
          Buffer.from(text)
            .toString()
            .split('\n')
            .filter((line) => line !== ''),
        );
      },
    ),
  );
});

test('what follows the last newline comes as a line of its own', async () => {
  assert.deepEqual(await linesOf([Buffer.from('{"a":1}\n{"b'), Buffer.from('":')]), ['{"a":1}', '{"b":']);
});

test('a chunk is pulled only when the lines before it are taken', async () => {
  let pulled = 0;
  // oxlint-disable-next-line typescript/require-await
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      pulled++;
      yield Buffer.from('x\ny\n');
    }
  }
  const lines = decodeLines(source());
  for (let i = 0; i < 4; i++) await lines.next();
  assert.equal(pulled, 2);
  await lines.return();
});
