import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '@outrigger/kube';
import { askManager } from './ask-manager.ts';

const status = (message: string): string => JSON.stringify({ kind: 'Status', message });

test('who is refused is told what to do, in one line', async () => {
  for (const [code, body, told] of [
    [
      401,
      status('Unauthorized'),
      'Unauthorized (401); give --token-file or --kubeconfig, with a user that the manager can authenticate',
    ],
    [403, status('forbidden'), 'forbidden (403); grant the user get on the nonResourceURLs /explain/*'],
    [
      404,
      '404 page not found\n',
      '404 page not found (404); the manager runs with --profiling=false, or has another version than this command',
    ],
    [404, 'no controller that runs knows a node a', 'no controller that runs knows a node a (404)'],
    [503, status('x'.repeat(100_000)), `${'x'.repeat(1_000)}… (503)`],
    [503, 'the leader is b: ask there\nand so on', 'the leader is b: ask there (503)'],
  ] as const) {
    const server = createServer((_request, response) => response.writeHead(code).end(body)).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const asking = askManager({ server: url }, '/explain/node/a', {
        clock: systemClock,
        signal: new AbortController().signal,
      });
      await assert.rejects(asking, { message: `${url}: ${told}` });
    } finally {
      server.close();
    }
  }
});

test('where nobody answers it is not said to be the API server', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await new Promise((resolve) => server.close(resolve));
  const asking = askManager({ server: url }, '/explain/node/a', {
    clock: systemClock,
    signal: new AbortController().signal,
  });
  await assert.rejects(asking, {
    message: `${url}: connection refused; is the manager running there, with this --secure-port?`,
  });
});
