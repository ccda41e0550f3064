import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { MOST_BYTES, ReviewMemory, type HeldReview } from './review-memory.ts';

const MiB = 1024 * 1024;
const text = (bytes: number): string => JSON.stringify('x'.repeat(bytes - 2));

/** A review that arrives in pieces. */
class Arriving {
  readonly #stream = new PassThrough({ highWaterMark: 2 * MOST_BYTES });
  readonly held: HeldReview;
  readonly read: Promise<string>;

  constructor(memory: ReviewMemory, peer: string, trusted = false) {
    this.held = memory.hold({ peer, trusted });
    this.read = this.held.read(this.#stream);
    this.read.catch(() => {});
  }

  async send(piece: string): Promise<void> {
    this.#stream.write(piece);
    // The stream hands it on in a later turn.
    await new Promise(setImmediate);
  }

  async end(piece: string): Promise<string> {
    this.#stream.end(piece);
    return this.read;
  }

  leave(): void {
    this.#stream.destroy();
  }
}

const refused = (status: number): { readonly name: string; readonly status: number } => ({
  name: 'ReviewError',
  status,
});

test('a review is read whatever it is cut into, and what it held is free again', async () => {
  const memory = new ReviewMemory(1);
  for (let i = 0; i < 10; i++) {
    using review = new Arriving(memory, 'a').held;
    const stream = new PassThrough();
    const read = review.read(stream);
    for (const byte of Buffer.from('{"é":1}')) stream.write(Buffer.of(byte));
    stream.end();
    assert.equal(await read, '{"é":1}');
  }
});

test('what is too long, has too many values or is too deep is refused', async () => {
  const memory = new ReviewMemory(64);
  await assert.rejects(new Arriving(memory, 'a').end(text(MOST_BYTES + 1)), refused(413));
  await assert.rejects(new Arriving(memory, 'b').end(`[${'[],'.repeat(150_000)}0]`), refused(413));
  await assert.rejects(new Arriving(memory, 'c').end(`${'['.repeat(501)}${']'.repeat(501)}`), refused(413));
  await assert.rejects(new Arriving(memory, 'd').end('{"a":'.repeat(1_000_000)), refused(413));
});

test('a caller that goes away leaves nothing waiting', async () => {
  const review = new Arriving(new ReviewMemory(64), 'a');
  await review.send('{');
  review.leave();
  await assert.rejects(review.read, refused(400));
});

test('of one caller the oldest that still arrives gives way, and who comes after it is read', async () => {
  const memory = new ReviewMemory(64);
  const slow: Arriving[] = [];
  for (let i = 0; i < 7; i++) {
    const review = new Arriving(memory, 'a');
    await review.send(`"${'x'.repeat(4 * MiB)}`);
    slow.push(review);
  }
  const [oldest, ...others] = slow as [Arriving, ...Arriving[]];
  await assert.rejects(oldest.read, refused(429));
  for (let i = 0; i < 3; i++) {
    using honest = new Arriving(memory, 'a').held;
    const stream = new PassThrough();
    stream.end('{}');
    assert.equal(await honest.read(stream), '{}');
  }
  assert.equal((await others.at(-1)?.end('"'))?.length, 4 * MiB + 2);
});

test('of several callers it is the one that holds most, and never one that has shown who it is', async () => {
  const memory = new ReviewMemory(64);
  const server = new Arriving(memory, 'server', true);
  await server.send(`"${'x'.repeat(6 * MiB)}`);
  const other = new Arriving(memory, 'other');
  await other.send(`"${'x'.repeat(MiB)}`);
  const flood: Arriving[] = [];
  for (let i = 0; i < 20; i++) {
    const review = new Arriving(memory, 'flood');
    await review.send(`"${'x'.repeat(6 * MiB)}`);
    flood.push(review);
  }
  for (const review of flood.slice(0, 15)) await assert.rejects(review.read, refused(429));
  assert.equal((await other.end('"')).length, MiB + 2);
  assert.equal((await server.end('"')).length, 6 * MiB + 2);
});

test('of reviews that are answered each caller has its share', async () => {
  const memory = new ReviewMemory(2);
  const [first, second] = [new Arriving(memory, 'a'), new Arriving(memory, 'a')];
  await first.end('{}');
  await second.end('{}');
  await assert.rejects(new Arriving(memory, 'a').end('{}'), refused(429));
  await new Arriving(memory, 'b').end('{}');
  await new Arriving(memory, 'c').end('{}');
  await assert.rejects(new Arriving(memory, 'd').end('{}'), refused(429));
  first.held[Symbol.dispose]();
  await new Arriving(memory, 'd').end('{}');
});
