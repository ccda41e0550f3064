import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Journal } from '@outrigger/controllers';
import { FakeClock } from '@outrigger/testing';
import { DryRunOnce } from './dry-run-once.ts';

test('what others have written into an object neither tells the terminal anything nor looks like another line', async () => {
  const clock = new FakeClock();
  const hostile = 'a\u009b2J\u001b[2J\nNothing is planned.';
  const plan = {
    controller: 'cloud-node-controller',
    subject: { kind: 'node', name: 'n1', uid: 'u' },
    actions: [
      { kind: 'patch', summary: hostile, changes: [{ field: 'status', from: JSON.stringify(hostile), to: undefined }] },
    ],
  } as unknown as ReturnType<Journal['plans']>[number];
  let out = '';
  using once = new DryRunOnce({ clock, journal: { plans: () => [plan] }, write: (text) => void (out += text) });
  const settled = once.settle(Promise.resolve(), [], new AbortController().signal);
  await clock.advance(20_000);
  await settled;
  assert.equal(once.code, 2);
  assert.doesNotMatch(out.replaceAll('\n', ''), /\p{Cc}/u);
  assert.doesNotMatch(out, /^Nothing is planned/mu);
});
