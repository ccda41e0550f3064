import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { chunkSizes, cutInto, streamOf } from './byte-chunks.suite.ts';
import { decodeLines } from './line-decoder.ts';
import { isResponseError } from './response-body.ts';

function linesOf(chunks: Iterable<Uint8Array>): Promise<string[]> {
  return Array.fromAsync(decodeLines(streamOf(chunks)));
}

test('however a text is cut into chunks, the lines come out whole', async () => {
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 8 })
    .map((lines) => lines.join('\n'));
  await fc.assert(
    fc.asyncProperty(text, chunkSizes, async (text, sizes) => {
      const bytes = Buffer.from(text);
      assert.deepEqual(
        await linesOf(cutInto(sizes, bytes)),
        bytes
          .toString()
          .split('\n')
          .filter((line) => line !== ''),
      );
    }),
  );
});

test('what follows the last newline comes as a line of its own', async () => {
  assert.deepEqual(await linesOf([Buffer.from('{"a":1}\n{"b'), Buffer.from('":')]), ['{"a":1}', '{"b":']);
});

test('a line without an end is an error before it takes the memory of the program', async () => {
  let pulled = 0;
  // oxlint-disable-next-line typescript/require-await
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    for (const chunk = Buffer.alloc(1 << 20, 97); pulled < 256; pulled++) yield chunk;
  }
  await assert.rejects(
    Array.fromAsync(decodeLines(source())),
    (error) => isResponseError(error) && error.code === 'response-invalid',
  );
  assert.equal(pulled, 64, 'with the next MiB it is too long');
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
