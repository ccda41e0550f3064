import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { HandshakePace } from './handshake-pace.ts';

function setUp(): { clock: FakeClock; begun: string[]; enter: (peer: string, name: string) => Socket } {
  const clock = new FakeClock();
  const begun: string[] = [];
  const names = new Map<Socket, string>();
  const begin = (socket: Socket): void => void begun.push(names.get(socket) ?? '');
  const pace = new HandshakePace({ clock, perSecond: 10, burst: 3, begin });
  const enter = (remoteAddress: string, name: string): Socket => {
    const socket = Object.assign(new EventEmitter(), { remoteAddress, destroyed: false }) as unknown as Socket;
    names.set(socket, name);
    pace.enter(socket);
    return socket;
  };
  return { clock, begun, enter };
}

test('a burst begins at once, then so many a second', async () => {
  const { begun, clock, enter } = setUp();
  for (let i = 0; i < 30; i++) enter('a', `a-${i}`);
  assert.deepEqual(begun, ['a-0', 'a-1', 'a-2']);
  await clock.advance(1_000);
  assert.equal(begun.length, 13);
  // After a pause no more than a burst again.
  await clock.advance(10_000);
  assert.equal(begun.length, 30);
  for (let i = 0; i < 5; i++) enter('a', `b-${i}`);
  assert.equal(begun.length, 33);
});

test('an address of which one waits goes before one of which many do', async () => {
  const { begun, clock, enter } = setUp();
  for (let i = 0; i < 30; i++) enter('many', `many-${i}`);
  enter('few', 'few-0');
  await clock.advance(100);
  assert.deepEqual(begun.slice(3), ['few-0']);
  await clock.advance(100);
  assert.deepEqual(begun.slice(4), ['many-29']);
});

test('who has gone meanwhile costs nothing', async () => {
  const { begun, clock, enter } = setUp();
  const waiting = Array.from({ length: 6 }, (_, i) => enter('a', `a-${i}`));
  waiting[5]?.emit('error', new Error('reset'));
  for (const socket of waiting.slice(4)) socket.emit('close');
  // Ended, and not told yet.
  Object.assign(enter('a', 'a-6'), { destroyed: true });
  await clock.advance(100);
  assert.deepEqual(begun, ['a-0', 'a-1', 'a-2', 'a-3']);
});
