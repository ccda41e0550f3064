import assert from 'node:assert/strict';
import { test } from 'node:test';
import { getHeapStatistics } from 'node:v8';
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
    /^Acme: GET \/servers: more than 5000 pages, or \d+ MiB in all lists that are being read; nothing is concluded from it\. If/u,
  );
  // Of a gibibyte each, no heap holds more than a few.
  const long = await endOf(2 ** 30);
  assert.ok(long.pages <= 100, `${long.pages} pages`);
});

const MIB = 2 ** 20;
/** Of the text of all lists that are under way. */
const MOST = Math.max(64, Math.floor(getHeapStatistics().heap_size_limit / 2 ** 22)) * MIB;

/** A cloud whose answers have `length` characters each, which counts what the lists that are not over hold of them. */
class CountedCloud {
  readonly #length: number;
  held = 0;
  peak = 0;

  constructor(length: number) {
    this.#length = length;
  }

  /** Of so many pages; resolves to whether all of them were read. */
  async read(pages: number): Promise<boolean> {
    let page = 0;
    const list = new PagedList({
      operation: 'Acme: GET /servers',
      first: {},
      ask: async () => {
        await new Promise((resolve) => setImmediate(resolve));
        page += 1;
        this.held += this.#length;
        this.peak = Math.max(this.peak, this.held);
        return {
          body: { items: [page], next: page < pages ? page : '' },
          header: () => undefined,
          length: this.#length,
        };
      },
      itemsOf: (body) => (body as { items: unknown }).items,
      next: nextByToken('page', (body) => (body as { next: unknown }).next),
    });
    try {
      await list.all();
      return true;
    } catch (error) {
      assert.ok(isCloudError(error, 'unavailable'), String(error));
      return false;
    } finally {
      this.held -= page * this.#length;
    }
  }
}

test('lists without an end that are read at once hold together what one may', async () => {
  const cloud = new CountedCloud(MIB);
  const ended = await Promise.all(Array.from({ length: 8 }, () => cloud.read(Infinity)));
  assert.deepEqual(ended, Array<boolean>(8).fill(false));
  // A page of each is on its way.
  assert.ok(cloud.peak <= MOST + 8 * MIB, `${cloud.peak / MIB} MiB of ${MOST / MIB}`);
});

test('of two large lists that are read at once one is read whole, and the other when it is tried again', async () => {
  const pages = Math.floor((MOST / MIB) * 0.7);
  const cloud = new CountedCloud(MIB);
  const ended = await Promise.all([cloud.read(pages), cloud.read(pages)]);
  assert.equal(ended.filter((isWhole) => isWhole).length, 1);
  assert.ok(await cloud.read(pages));
});

test('servers of 5,000 nodes are listed beside large lists of other kinds', async () => {
  // 4 KiB each, a thousand on a page; of addresses, ports and load balancers a kibibyte each.
  const [servers, others] = [new CountedCloud(4 * MIB), new CountedCloud(MIB)];
  const lists = [servers.read(5), ...Array.from({ length: 3 }, () => others.read(5))];
  assert.deepEqual(await Promise.all(lists), [true, true, true, true]);
});

test('a list that is left in the middle, or whose cloud fails, takes no place of others', async () => {
  const most = Math.ceil(MOST / MIB) - 2;
  const list = (fails: boolean): PagedList<number> => {
    let page = 0;
    return new PagedList({
      operation: 'Acme: GET /servers',
      first: {},
      ask: () => {
        page += 1;
        if (fails && page === most) return Promise.reject(new Error('cut off'));
        return Promise.resolve({ body: { items: [page], next: page }, header: () => undefined, length: MIB });
      },
      itemsOf: (body) => (body as { items: unknown }).items,
      next: nextByToken('page', (body) => (body as { next: number }).next),
    });
  };
  for await (const page of list(false)) if (page === most) break;
  await assert.rejects(list(true).all(), /cut off/u);
  assert.ok(await new CountedCloud(MIB).read(most));
});

test('of an answer whose size is not known, each item counts', () => {
  using bound = new ListBound('Acme: GET /servers');
  bound.next('2', 1_000);
  assert.throws(() => bound.next('3', 2 ** 28), /MiB/u);
});
