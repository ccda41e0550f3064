import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTerminalError, TerminalError } from './terminal-error.ts';

test('a terminal error is known by its brand, through any wrapping, and by nothing else', () => {
  const terminal = new TerminalError('annotation does not parse', { cause: new Error('bad') });
  assert.equal(terminal.code, 'terminal');
  assert.ok(isTerminalError(terminal));
  assert.ok(isTerminalError(new Error('node a', { cause: terminal })));
  assert.ok(isTerminalError({ [Symbol.for('outrigger.kube.TerminalError')]: true }), 'of another copy of this package');
  for (const other of [new Error('x'), undefined, null, 'terminal', { code: 'terminal' }]) {
    assert.equal(isTerminalError(other), false);
  }
});

test('a circle of causes ends', () => {
  const error = new Error('round');
  error.cause = error;
  assert.equal(isTerminalError(error), false);
});
