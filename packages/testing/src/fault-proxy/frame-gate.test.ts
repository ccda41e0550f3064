import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { FrameGate } from './frame-gate.ts';

const messages = fc.array(fc.uint8Array({ maxLength: 12 }), { minLength: 1, maxLength: 8 });

function frame(message: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([0, 0, 0, message.length]), message]);
}

test('however the bytes are cut into chunks, the gate closes at the same message', () => {
  fc.assert(
    fc.property(messages, fc.nat(8), fc.boolean(), fc.array(fc.nat(60)), (messages, allowed, half, cuts) => {
      const frames = messages.map(frame);
      const bytes = Buffer.concat(frames);
      const gate = new FrameGate(allowed, half);
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      const passed: Buffer[] = [];
      for (let index = 1; index < at.length && !gate.closed; index++) {
        passed.push(gate.take(bytes.subarray(at[index - 1], at[index])));
      }
      const next = frames[allowed];
      const rest = half && next ? next.subarray(0, Math.floor(next.length / 2)) : Buffer.alloc(0);
      assert.deepEqual(Buffer.concat(passed), Buffer.concat([...frames.slice(0, allowed), rest]));
      assert.equal(gate.closed, half ? next !== undefined : frames.length >= allowed);
    }),
  );
});

test('a last message without its end is known by half', () => {
  const gate = new FrameGate(0, true);
  assert.equal(gate.take(Buffer.from([0, 0, 0])).length, 0);
  assert.equal(gate.take(Buffer.from([9, 1, 2])).length, 0);
  assert.deepEqual(gate.rest(), Buffer.from([0, 0, 0]));
});
