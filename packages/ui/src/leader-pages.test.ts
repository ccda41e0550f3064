import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock, type ClusterConfig } from '@outrigger/kube';
import { LeaderPages } from './leader-pages.ts';

/** A leader that answers when the test says so. */
async function startLeader(): Promise<
  AsyncDisposable & { readonly server: string; next(): Promise<readonly [url: string, response: ServerResponse]> }
> {
  const leader = createServer().listen(0, '127.0.0.1');
  await once(leader, 'listening');
  return {
    server: `http://127.0.0.1:${(leader.address() as AddressInfo).port}`,
    next: async () => {
      const [{ url = '' }, response] = (await once(leader, 'request')) as [{ url?: string }, ServerResponse];
      return [url, response];
    },
    [Symbol.asyncDispose]: async () => {
      leader.closeAllConnections();
      await new Promise<void>((resolve) => void leader.close(() => resolve()));
    },
  };
}

const never = new AbortController().signal;

test('who does not wait for an answer any more takes none from another', async () => {
  await using leader = await startLeader();
  let finds = 0;
  await using pages = new LeaderPages({
    find: () => {
      finds++;
      return Promise.resolve({ server: leader.server });
    },
    clock: systemClock,
    timeoutMs: 60_000,
  });
  const first = leader.next();
  const list = pages.ask('/explain/node/', never);
  const [, response] = await first;
  const closed = new AbortController();
  const second = leader.next();
  const left = pages.ask('/explain/node/a', closed.signal);
  await second;
  closed.abort(new Error('the panel was closed'));
  await assert.rejects(left, /the panel was closed/u);
  response.end('{"items":[]}');
  assert.deepEqual((await list).body, { items: [] });
  assert.equal(finds, 1);
});

test('who stops waiting while the leader is looked for does not end that for another', async () => {
  await using leader = await startLeader();
  const found = Promise.withResolvers<ClusterConfig>();
  await using pages = new LeaderPages({
    find: (signal) => {
      signal.addEventListener('abort', () => found.reject(signal.reason as Error));
      return found.promise;
    },
    clock: systemClock,
    timeoutMs: 60_000,
  });
  const closed = new AbortController();
  const left = pages.ask('/explain/node/a', closed.signal);
  const list = pages.ask('/explain/node/', never);
  closed.abort(new Error('the panel was closed'));
  await assert.rejects(left, /the panel was closed/u);
  const asked = leader.next();
  found.resolve({ server: leader.server });
  const [url, response] = await Promise.race([asked, list.then(() => assert.fail('nobody was asked'))]);
  response.end('{}');
  assert.equal(url, '/explain/node/');
  assert.deepEqual((await list).body, {});
});

test('a leader that was not found is looked for again', async () => {
  await using leader = await startLeader();
  const answers = [new Error('there is no leader'), undefined];
  await using pages = new LeaderPages({
    find: () => {
      const error = answers.shift();
      return error ? Promise.reject(error) : Promise.resolve({ server: leader.server });
    },
    clock: systemClock,
    timeoutMs: 60_000,
  });
  await assert.rejects(pages.ask('/readyz', never), /there is no leader/u);
  const asked = leader.next();
  const answer = pages.ask('/explain/node/', never);
  (await asked)[1].end('{}');
  assert.deepEqual((await answer).body, {});
});

test('an answer about one object leaves the leader as it is; after any other it is looked for again, whatever it says', async () => {
  await using leader = await startLeader();
  let finds = 0;
  await using pages = new LeaderPages({
    find: () => {
      finds++;
      return Promise.resolve({ server: leader.server });
    },
    clock: systemClock,
    timeoutMs: 60_000,
  });
  for (const [status, expected] of [
    [404, 1],
    [503, 1],
    [404, 2],
  ] as const) {
    const asked = leader.next();
    const answer = pages.ask('/explain/node/a', never);
    const refused = assert.rejects(
      answer,
      new RegExp(`: a page of another was not found \\(404\\) \\(${status}\\)`, 'u'),
    );
    (await asked)[1].writeHead(status).end('a page of another was not found (404)');
    await refused;
    assert.equal(finds, expected, `${status}`);
  }
});
