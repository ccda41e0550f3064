import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { chunkSizes, cutInto, streamOf } from '../byte-chunks.suite.ts';
import { isResponseError } from '../response-body.ts';
import { framed } from './encode.suite.ts';
import { decodeFrames } from './frame-decoder.ts';
import { UnreadableMessageError } from './message-reader.ts';

function framesOf(chunks: Iterable<Uint8Array>): Promise<string[]> {
  return Array.fromAsync(decodeFrames(streamOf(chunks)), (frame) => frame.toString());
}

test('however a stream is cut into chunks, the messages come out whole', async () => {
  const messages = fc.array(fc.string({ unit: 'grapheme', maxLength: 12 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(messages, chunkSizes, async (messages, sizes) => {
      const bytes = Buffer.concat(messages.map((message) => framed(Buffer.from(message))));
      assert.deepEqual(
        await framesOf(cutInto(sizes, bytes)),
        messages.map((message) => Buffer.from(message).toString()),
      );
    }),
  );
});

test('a stream that ends within a message or within a length is an error', async () => {
  for (const bytes of [framed(Buffer.from('abc')).subarray(0, 6), Buffer.from([0, 0])]) {
    await assert.rejects(framesOf([bytes]), (error) => isResponseError(error) && error.code === 'response-invalid');
  }
});

test('a length that cannot be one is an error at once; one that can takes no memory before its bytes come', async () => {
  await assert.rejects(framesOf([Buffer.from([0xff, 0xff, 0xff, 0xff])]), UnreadableMessageError);
  const before = process.memoryUsage().arrayBuffers;
  await assert.rejects(framesOf([Buffer.from([3, 0, 0, 0]), Buffer.alloc(10)]), /after 14 bytes/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 1 << 20);
});

// Were what has come copied with each piece, it would be 8 s.
test('a message of 1 MB that comes in pieces of 16 bytes costs no more than its bytes', async () => {
  const bytes = framed(Buffer.alloc(1 << 20, 97));
  const before = process.cpuUsage();
  const [frame] = await framesOf(
    Array.from({ length: Math.ceil(bytes.length / 16) }, (_, index) => bytes.subarray(16 * index, 16 * index + 16)),
  );
  assert.equal(frame?.length, 1 << 20);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user / 1000} ms of CPU`);
});

test('a chunk is pulled only when the messages before it are taken', async () => {
  let pulled = 0;
  // oxlint-disable-next-line typescript/require-await
  async function* source(): AsyncGenerator<Uint8Array, void, void> {
    for (;;) {
      pulled++;
      yield Buffer.concat([framed(Buffer.from('x')), framed(Buffer.from('y'))]);
    }
  }
  const frames = decodeFrames(source());
  for (let i = 0; i < 4; i++) await frames.next();
  assert.equal(pulled, 2);
  await frames.return();
});
