import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endRun } from './own-acts.ts';

test('the end of a run stops the program and deletes the routes, whatever fails before; what may be left is told', async () => {
  const events: string[] = [];
  const end = (how: { readonly takeBack?: boolean; readonly code?: number; readonly left?: readonly string[] }) =>
    endRun({
      takeBack: async () => how.takeBack ?? Promise.reject(new Error('the watch of nodes ended')),
      program: {
        stop: async () => {
          events.push('stop');
          return how.code ?? 0;
        },
      },
      cloud: {
        removeRoutes: async () => {
          events.push('routes');
          return how.left ?? Promise.reject(new Error('503'));
        },
      },
      tell: (text) => void events.push(text),
    });
  assert.equal(await end({ takeBack: true, left: [] }), true);
  assert.deepEqual(events.splice(0), ['stop', 'routes']);
  assert.equal(await end({ left: [] }), false);
  assert.deepEqual(events.splice(0), [
    'what was made could not be taken back; look for it in the cloud: the watch of nodes ended',
    'stop',
    'routes',
  ]);
  assert.equal(await end({ takeBack: true, left: ['10.244.0.0/24'] }), false);
  assert.equal(events.splice(0).at(-1), 'routes that are still in the cloud: 10.244.0.0/24');
  assert.equal(await end({ takeBack: true }), false);
  assert.equal(events.splice(0).at(-1), 'routes of this run may still be in the cloud: 503');
  assert.equal(await end({ takeBack: true, code: 1, left: [] }), false);
});
