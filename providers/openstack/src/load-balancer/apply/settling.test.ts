import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import type { ApiClient, ListRequest } from '../../client/api-client.ts';
import { callContext } from '../rig.suite.ts';
import { Settling } from './settling.ts';

/** Answers lists of statuses alone. */
function clientOver(statuses: ReadonlyMap<string, string>, lists: ListRequest[]): ApiClient {
  const list = (_call: unknown, request: ListRequest): Promise<readonly unknown[]> => {
    lists.push(request);
    return Promise.resolve([...statuses].map(([id, status]) => ({ id, provisioning_status: status })));
  };
  return { list } as unknown as ApiClient;
}

test('one list serves all that wait, with the two fields that are needed', async () => {
  const clock = new FakeClock();
  const lists: ListRequest[] = [];
  const statuses = new Map(Array.from({ length: 50 }, (_, i) => [`lb-${i}`, 'PENDING_UPDATE']));
  const settling = new Settling(clientOver(statuses, lists), clock);
  const ids = [...statuses.keys()];
  for (const id of ids) settling.noteBusy(id);
  const waiting = Promise.all(ids.map((id) => settling.isReady(id, callContext())));
  await clock.advance(1_000);
  assert.equal(lists.length, 1);
  assert.deepEqual(lists[0]?.query, [
    ['fields', 'id'],
    ['fields', 'provisioning_status'],
  ]);
  for (const id of ids) statuses.set(id, 'ACTIVE');
  await clock.advance(1_000);
  assert.ok((await waiting).every(Boolean));
  assert.equal(lists.length, 2);
  assert.equal(await settling.isReady('lb-1', callContext()), true, 'what has settled is not asked about again');
  assert.equal(lists.length, 2);
});

test('one that takes too long holds no worker, and nobody else', async () => {
  const clock = new FakeClock();
  const lists: ListRequest[] = [];
  const settling = new Settling(clientOver(new Map([['slow', 'PENDING_UPDATE']]), lists), clock);
  settling.noteBusy('slow');
  assert.equal(await settling.isReady('other', callContext()), true);
  const ready = settling.isReady('slow', callContext());
  await clock.advance(11_000);
  assert.equal(await ready, false);
});

test('one that gives up does not take the list from the others', async () => {
  const clock = new FakeClock();
  const settling = new Settling(
    clientOver(
      new Map([
        ['a', 'ACTIVE'],
        ['b', 'ACTIVE'],
      ]),
      [],
    ),
    clock,
  );
  settling.noteBusy('a');
  settling.noteBusy('b');
  const leaver = new AbortController();
  const first = settling.isReady('a', callContext(leaver.signal));
  const second = settling.isReady('b', callContext());
  const gone = assert.rejects(first, /gone/);
  leaver.abort(new Error('gone'));
  await clock.advance(3_000);
  await gone;
  assert.equal(await second, true);
});

test('what a look has shown to have settled since it was changed is not waited for, and what changed after the look is', async () => {
  const clock = new FakeClock();
  const lists: ListRequest[] = [];
  const settling = new Settling(clientOver(new Map([['a', 'ACTIVE']]), lists), clock);
  settling.noteBusy('a');
  settling.saw('a', 'ACTIVE', clock.monotonic() - 1);
  let isReady = false;
  void settling.isReady('a', callContext()).then((ready) => (isReady = ready));
  await clock.settle();
  assert.equal(isReady, false, 'the look began before the change');
  await clock.advance(1_000);
  assert.equal(isReady, true);
  settling.noteBusy('a');
  await clock.advance(500);
  settling.saw('a', 'PENDING_UPDATE', clock.monotonic());
  settling.saw('b', 'ACTIVE', clock.monotonic());
  settling.saw('a', 'ACTIVE', clock.monotonic());
  assert.equal(await settling.isReady('a', callContext()), true);
  assert.equal(lists.length, 1);
});
