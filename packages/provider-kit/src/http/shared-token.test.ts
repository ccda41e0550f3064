import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { openedHost } from '../opened-host.suite.ts';
import { SharedToken, type FetchedToken } from './shared-token.ts';

interface Scoped extends FetchedToken {
  readonly project: string;
}

test('a token keeps what it brings, is renewed when it says so, and replaced once by whoever was refused with it', async () => {
  const clock = new FakeClock();
  await using opened = await openedHost(clock);
  const { host } = opened;
  const call = host.callContext();
  let count = 0;
  const shared = new SharedToken<Scoped>({
    host,
    fetch: async () => {
      const now = clock.now();
      return { value: `token-${++count}-of-acme`, project: 'p', expiresAt: now + 10_000, renewAt: now + 4_000 };
    },
  });
  const first = await shared.get(call);
  assert.deepEqual([first.project, first.value], ['p', 'token-1-of-acme']);
  await clock.advance(3_999);
  assert.equal(await shared.get(call), first);
  assert.equal(count, 1);
  await clock.advance(1);
  // The old one serves meanwhile.
  assert.equal(await shared.get(call), first);
  await clock.advance(0);
  const second = await shared.get(call);
  assert.equal(second.value, 'token-2-of-acme');
  const replaced = await Promise.all([second, second, first].map((old) => shared.get(call, (now) => now === old)));
  assert.deepEqual(
    replaced.map(({ value }) => value),
    ['token-3-of-acme', 'token-3-of-acme', 'token-3-of-acme'],
  );
  assert.equal(count, 3);
});
