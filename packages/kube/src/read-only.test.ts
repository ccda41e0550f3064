import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { readOnly, ReadOnlyError } from './read-only.ts';
import type { Transport, TransportRequest } from './transport.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly TransportRequest['method'][];

test('nothing but GET reaches the connection, whatever is asked', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ method: fc.constantFrom(...methods), path: fc.webPath() })),
      async (asked) => {
        const sent: string[] = [];
        const refused: string[] = [];
        const inner: Transport = {
          send: ({ method }) => {
            sent.push(method);
            return Promise.resolve({ status: 200, headers: {}, body: (async function* () {})() });
          },
          [Symbol.asyncDispose]: () => Promise.resolve(),
        };
        const transport = readOnly((what) => refused.push(what))(inner);
        for (const request of asked) {
          await transport.send(request).catch((error: unknown) => assert.ok(error instanceof ReadOnlyError));
        }
        assert.deepEqual(new Set(sent), new Set(asked.some(({ method }) => method === 'GET') ? ['GET'] : []));
        assert.equal(sent.length + refused.length, asked.length);
      },
    ),
  );
});

test('the refusal names the request, without its query', async () => {
  const inner: Transport = { send: () => assert.fail('sent'), [Symbol.asyncDispose]: () => Promise.resolve() };
  await assert.rejects(readOnly()(inner).send({ method: 'PATCH', path: '/api/v1/nodes/a?fieldManager=x' }), {
    code: 'read-only',
    message: 'PATCH /api/v1/nodes/a is not sent: this program only reads (--dry-run)',
  });
});
