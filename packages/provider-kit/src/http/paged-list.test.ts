import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CloudErrorShape } from '@outrigger/cloud-provider';
import { ListBound } from './list-bound.ts';
import { nextByToken, PagedList } from './paged-list.ts';

/** How a list of a cloud that always names another page ends, and after how many. */
async function endOf(length: number): Promise<{ readonly error: CloudErrorShape; readonly pages: number }> {
  let pages = 0;
  const list = new PagedList({
    operation: 'Acme: GET /servers',
    first: {},
    ask: () => {
      pages += 1;
      assert.ok(pages <= 6_000, 'it has no end');
      return Promise.resolve({ body: { items: [pages], next: pages }, header: () => undefined, length });
    },
    itemsOf: (body) => (body as { items: unknown }).items,
    next: nextByToken('page', (body) => (body as { next: number }).next),
  });
  const error: unknown = await list.all().catch((cause: unknown) => cause);
  assert.ok(isCloudError(error, 'unavailable'), String(error));
  assert.equal(list.complete, false);
  return { error, pages };
}

test('a list to which the cloud always names another page ends as unavailable, by its pages and by its size', async () => {
  const short = await endOf(100);
  assert.equal(short.pages, 5_000);
  assert.match(
    short.error.message,
    /^Acme: GET \/servers: more than 5000 pages or \d+ MiB; nothing is concluded from it\. If/u,
  );
  // Of a gibibyte each, no heap holds more than a few.
  const long = await endOf(2 ** 30);
  assert.ok(long.pages <= 100, `${long.pages} pages`);
});

test('of an answer whose size is not known, each item counts', () => {
  const bound = new ListBound('Acme: GET /servers');
  bound.next('2', 1_000);
  assert.throws(() => bound.next('3', 2 ** 28), /MiB/u);
});
