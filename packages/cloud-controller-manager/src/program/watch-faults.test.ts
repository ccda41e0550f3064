import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { createLogging } from '@outrigger/controller-manager';
import { FakeClock } from '@outrigger/testing';
import { watchFaults } from './watch-faults.ts';

test('an error that nothing caught is logged without secrets, and ends the program', () => {
  let log = '';
  const logging = createLogging({
    clock: new FakeClock(),
    format: 'json',
    level: 0,
    component: 'main',
    destination: { write: (text: string) => void (log += text) },
  });
  logging.redactor.add('hunter2hunter2');
  const source = new EventEmitter();
  let exits = 0;
  {
    using _faults = watchFaults(source, logging.logger, () => void exits++);
    source.emit('uncaughtException', new Error('sent hunter2hunter2'));
    source.emit('uncaughtException', 'not an Error');
  }
  logging.flush();
  assert.equal(exits, 2);
  assert.equal(source.listenerCount('uncaughtException'), 0);
  const [line] = log.split('\n').map((text) => (text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)));
  assert.match(String(line?.['msg']), /Uncaught error/u);
  assert.match(String(line?.['stack']), /watch-faults\.test\.ts/u);
  assert.doesNotMatch(log, /hunter2/u);
  assert.match(log, /not an Error/u);
});
