import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { startSmallCloud } from './example.ts';

test('the example of the README is a file that compiles, and a cloud that behaves', async () => {
  const source = await readFile(new URL('example.ts', import.meta.url), 'utf8');
  const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
  const shown = [...readme.matchAll(/```ts\n([\s\S]*?)```/gu)].map(([, block]) => block);
  assert.ok(shown.includes(source.replace("'./index.ts'", "'@outrigger/provider-kit/fake'")));

  const clock = new FakeClock();
  await using cloud = await startSmallCloud(clock);
  const headers = { authorization: 'Bearer token-of-acme' };
  const post = async (path: string, body: object) => {
    const answer = await fetch(`${cloud.endpoint}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, body: (await answer.json()) as { readonly id?: string } };
  };
  assert.equal((await post('/balancers', { address: 'none' })).status, 422);
  const { body } = await post('/addresses', {});
  cloud.faults.set({ method: 'POST', status: 500, takesEffect: true, times: 1 });
  assert.equal((await post('/balancers', { address: body.id })).status, 500);
  const status = () =>
    cloud
      .resource('balancers')
      .all()
      .map((balancer) => balancer['status']);
  assert.deepEqual(status(), ['pending']);
  await clock.advance(2_000);
  assert.deepEqual(status(), ['active']);
  assert.equal(cloud.calls.counts()['POST /balancers'], 2);
});
