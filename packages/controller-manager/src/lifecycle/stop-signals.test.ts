import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { silentLogger } from '@outrigger/kube';
import { watchStopSignals } from './stop-signals.ts';

test('the first signal asks to stop, the second ends the process', () => {
  const source = new EventEmitter();
  let exits = 0;
  const stop = watchStopSignals(source, silentLogger, () => void exits++);
  assert.equal(stop.signal.aborted, false);
  source.emit('SIGTERM', 'SIGTERM');
  assert.equal(stop.signal.aborted, true);
  assert.match(String(stop.signal.reason), /stopped by SIGTERM/u);
  assert.equal(exits, 0);
  source.emit('SIGINT', 'SIGINT');
  assert.equal(exits, 1);
  stop[Symbol.dispose]();
  assert.deepEqual([source.listenerCount('SIGTERM'), source.listenerCount('SIGINT')], [0, 0]);
});

test('SIGUSR1, on which Node would open its inspector, has a listener for as long as the process lives', () => {
  const source = new EventEmitter();
  const stop = watchStopSignals(source, silentLogger, () => assert.fail('ended'));
  source.emit('SIGUSR1', 'SIGUSR1');
  assert.equal(stop.signal.aborted, false);
  stop[Symbol.dispose]();
  assert.equal(source.listenerCount('SIGUSR1'), 1);
});
