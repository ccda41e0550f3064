import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { LineGate } from './line-gate.ts';

const lines = fc.array(fc.stringMatching(/^[a-z]{0,12}$/), { minLength: 1, maxLength: 8 });

test('however the bytes are cut into chunks, the gate closes at the same place', () => {
  fc.assert(
    fc.property(lines, fc.nat(8), fc.boolean(), fc.array(fc.nat(40)), (lines, allowed, half, cuts) => {
      const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
      const gate = new LineGate(allowed, half);
      const at = [0, ...cuts.map((cut) => Math.min(cut, bytes.length)).sort((a, b) => a - b), bytes.length];
      let passed = '';
      for (let index = 1; index < at.length && !gate.closed; index++) {
        passed += gate.take(bytes.subarray(at[index - 1], at[index])).toString();
      }
      const whole = lines
        .slice(0, allowed)
        .map((line) => `${line}\n`)
        .join('');
      const next = lines[allowed];
      const rest = half && next !== undefined ? next.slice(0, Math.floor(next.length / 2)) : '';
      assert.equal(passed, whole + rest);
      assert.equal(gate.closed, half ? next !== undefined : lines.length >= allowed);
    }),
  );
});

test('a last line without its end is known by half', () => {
  const gate = new LineGate(0, true);
  assert.equal(gate.take(Buffer.from('abc')).length, 0);
  assert.equal(gate.take(Buffer.from('def')).length, 0);
  assert.equal(gate.rest().toString(), 'abc');
});
