import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Limiter } from './limiter.ts';

test('never more than the limit runs, in order, also when work fails', async () => {
  const limiter = new Limiter(3);
  const order: number[] = [];
  let running = 0;
  const work = Array.from({ length: 20 }, (_, index) =>
    limiter
      .run(async () => {
        order.push(index);
        assert.ok(++running <= 3);
        await new Promise<void>((resolve) => void setImmediate(resolve));
        running--;
        if (index % 4 === 0) throw new Error('no');
      })
      .catch(() => {}),
  );
  await Promise.all(work);
  assert.deepEqual(order, [...order.keys()]);
  assert.equal(running, 0);
});
