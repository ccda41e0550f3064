import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SharedRound } from './shared-round.ts';

test('who asks while one is under way shares the next, which begins after it', async () => {
  const round = new SharedRound<number>();
  const begun: PromiseWithResolvers<number>[] = [];
  const ask = (): Promise<number> =>
    round.ask(() => {
      const one = Promise.withResolvers<number>();
      begun.push(one);
      return one.promise;
    });
  const asked = [ask(), ask(), ask()];
  assert.equal(begun.length, 1);
  begun[0]?.resolve(1);
  assert.equal(await asked[0], 1);
  assert.equal(begun.length, 2);
  const later = ask();
  begun[1]?.resolve(2);
  assert.deepEqual(await Promise.all(asked), [1, 2, 2]);
  assert.equal(begun.length, 3);
  begun[2]?.reject(new Error('it fails'));
  await assert.rejects(later, /it fails/);
  const last = ask();
  begun[3]?.resolve(4);
  assert.equal(await last, 4, 'a failure ends nothing for those who ask later');
});

test('what throws at once is a rejection, and the next is asked', async () => {
  const round = new SharedRound<number>();
  const broken = async (): Promise<number> => {
    throw new Error('broken');
  };
  const [first, second] = [round.ask(broken), round.ask(async () => 2)];
  await assert.rejects(first, /broken/);
  assert.equal(await second, 2);
});

test('who is given the end of another call asks anew, once; who gave up does not', async () => {
  const round = new SharedRound<string>();
  const [first, second] = [new AbortController(), new AbortController()];
  let begun = 0;
  const runFor =
    ({ signal }: AbortController) =>
    async (): Promise<string> => {
      begun++;
      await new Promise((resolve) => void setImmediate(resolve));
      signal.throwIfAborted();
      return 'answered';
    };
  const asked = [
    round.ask(runFor(second), second.signal),
    round.ask(runFor(first), first.signal),
    round.ask(runFor(second), second.signal),
  ];
  first.abort();
  await assert.rejects(asked[1] as Promise<string>, { name: 'AbortError' });
  assert.deepEqual(await Promise.all([asked[0], asked[2]]), ['answered', 'answered']);
  assert.equal(begun, 3);
});
