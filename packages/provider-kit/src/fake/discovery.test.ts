import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { ask, refusalIn } from './asked.suite.ts';
import type { FakeCloud } from './fake-cloud.ts';
import type { FakeThing } from './fake-table.ts';
import { fakeCloud } from './start-fake-cloud.ts';

/** As Google describes its clouds: names are IDs, writes answer with an operation, numbers of 64 bits are texts. */
const NAME = '[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?';
const path = (name: string, pattern?: string) => ({
  [name]: { location: 'path', required: true, type: 'string', ...(pattern && { pattern }) },
});
const scope = path('project', NAME);
const one = { ...scope, ...path('firewall', NAME) };
const document = {
  kind: 'discovery#restDescription',
  servicePath: 'compute/v1/',
  parameters: {
    alt: { location: 'query', type: 'string', enum: ['json'] },
    fields: { location: 'query', type: 'string' },
  },
  resources: {
    firewalls: {
      methods: {
        list: {
          id: 'compute.firewalls.list',
          httpMethod: 'GET',
          path: 'projects/{project}/global/firewalls',
          parameters: {
            ...scope,
            maxResults: { location: 'query', type: 'integer', format: 'uint32', minimum: '0', maximum: '500' },
            pageToken: { location: 'query', type: 'string' },
          },
          response: { $ref: 'FirewallList' },
        },
        insert: {
          id: 'compute.firewalls.insert',
          httpMethod: 'POST',
          path: 'projects/{project}/global/firewalls',
          parameters: { ...scope, requestId: { location: 'query', type: 'string' } },
          request: { $ref: 'Firewall' },
          response: { $ref: 'Operation' },
        },
        get: {
          id: 'compute.firewalls.get',
          httpMethod: 'GET',
          path: 'projects/{project}/global/firewalls/{firewall}',
          parameters: one,
          response: { $ref: 'Firewall' },
        },
        patch: {
          id: 'compute.firewalls.patch',
          httpMethod: 'PATCH',
          path: 'projects/{project}/global/firewalls/{firewall}',
          parameters: one,
          request: { $ref: 'Firewall' },
          response: { $ref: 'Operation' },
        },
        delete: {
          id: 'compute.firewalls.delete',
          httpMethod: 'DELETE',
          path: 'projects/{project}/global/firewalls/{firewall}',
          parameters: one,
          response: { $ref: 'Operation' },
        },
      },
    },
    globalOperations: {
      methods: {
        get: {
          id: 'compute.globalOperations.get',
          httpMethod: 'GET',
          path: 'projects/{project}/global/operations/{operation}',
          parameters: { ...scope, ...path('operation') },
          response: { $ref: 'Operation' },
        },
      },
    },
  },
  schemas: {
    Firewall: {
      id: 'Firewall',
      type: 'object',
      properties: {
        name: { type: 'string', pattern: NAME },
        id: { type: 'string', format: 'uint64', readOnly: true },
        direction: { type: 'string', enum: ['INGRESS', 'EGRESS'] },
        priority: { type: 'integer', format: 'int32', minimum: '0', maximum: '65535' },
        allowed: {
          type: 'array',
          items: {
            type: 'object',
            properties: { IPProtocol: { type: 'string' }, ports: { type: 'array', items: { type: 'string' } } },
          },
        },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
        fingerprint: { type: 'string', format: 'byte' },
      },
    },
    FirewallList: {
      id: 'FirewallList',
      type: 'object',
      properties: { items: { type: 'array', items: { $ref: 'Firewall' } }, nextPageToken: { type: 'string' } },
    },
    Operation: {
      id: 'Operation',
      type: 'object',
      properties: {
        name: { type: 'string' },
        status: { type: 'string', enum: ['PENDING', 'RUNNING', 'DONE'] },
        error: {
          type: 'object',
          properties: {
            errors: {
              type: 'array',
              items: { type: 'object', properties: { code: { type: 'string' }, message: { type: 'string' } } },
            },
          },
        },
      },
    },
  },
};

const AT = '/compute/v1/projects/{project}/global';
const HERE = '/compute/v1/projects/p/global';

function google(): FakeCloud & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  const cloud = fakeCloud({
    clock,
    discovery: document,
    table: {
      paging: {
        by: 'token',
        parameter: 'pageToken',
        limit: 'maxResults',
        size: 500,
        next: { member: 'nextPageToken' },
      },
      operations: {
        path: `${AT}/operations`,
        shown: ({ error, id, status }) => ({
          name: id,
          status: status === 'running' ? 'RUNNING' : 'DONE',
          ...(error && { error: { errors: [error] } }),
        }),
      },
      resources: {
        firewalls: {
          path: `${AT}/firewalls`,
          idMember: 'name',
          id: 'given',
          change: 'PATCH',
          takesMs: 1_000,
          versions: { by: { member: 'fingerprint' } },
          made: (_, n) => ({ id: String(n) }),
        },
      },
    },
  });
  return Object.assign(cloud, { clock });
}

test('an insert answers with an operation; the thing is there when it is done', async () => {
  const cloud = google();
  const begun = await ask(cloud, `POST ${HERE}/firewalls?requestId=1`, { name: 'fw', priority: 10 });
  const { name, status } = begun.body as { readonly name: string; readonly status: string };
  assert.deepEqual([begun.status, status], [200, 'RUNNING']);
  assert.equal((await ask(cloud, `GET ${HERE}/firewalls/fw`)).status, 404);
  await cloud.clock.advance(1_000);
  assert.equal(((await ask(cloud, `GET ${HERE}/operations/${name}`)).body as FakeThing)['status'], 'DONE');
  const { body } = await ask(cloud, `GET ${HERE}/firewalls/fw`);
  const { fingerprint } = body as { readonly fingerprint: string };
  assert.deepEqual(body, { name: 'fw', priority: 10, id: '1', fingerprint });
  assert.equal((await ask(cloud, 'GET /compute/v1/projects/other/global/firewalls/fw')).status, 404);
  assert.deepEqual((await ask(cloud, `GET ${HERE}/firewalls?alt=json`)).body, { items: [body] });

  await ask(cloud, `PATCH ${HERE}/firewalls/fw`, { priority: 20, fingerprint });
  await cloud.clock.advance(1_000);
  assert.equal(cloud.resource('firewalls').get('fw')?.['priority'], 20);
  assert.deepEqual(refusalIn(await ask(cloud, `PATCH ${HERE}/firewalls/fw`, { fingerprint })), [412, 'changed']);
  await ask(cloud, `DELETE ${HERE}/firewalls/fw`);
  await cloud.clock.advance(1_000);
  assert.equal(cloud.resource('firewalls').size, 0);
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('an operation that fails says so in itself alone', async () => {
  const cloud = google();
  cloud.faults.set({
    operation: 'compute.firewalls.insert',
    failsLater: { code: 'QUOTA_EXCEEDED', message: 'no more' },
  });
  const { body } = await ask(cloud, `POST ${HERE}/firewalls`, { name: 'fw' });
  await cloud.clock.advance(1_000);
  const done = await ask(cloud, `GET ${HERE}/operations/${String((body as FakeThing)['name'])}`);
  assert.deepEqual((done.body as FakeThing)['error'], { errors: [{ code: 'QUOTA_EXCEEDED', message: 'no more' }] });
  assert.equal(cloud.resource('firewalls').size, 0);
});

test('requests are judged by the document', async () => {
  const cloud = google();
  const cases: readonly (readonly [line: string, body: unknown, problem: RegExp])[] = [
    ['POST /firewalls', { name: 'Fw' }, /body\.name: must match pattern/],
    ['POST /firewalls', { name: 'fw', direction: 'IN' }, /body\.direction: must be one of INGRESS, EGRESS/],
    ['POST /firewalls', { name: 'fw', priority: 65_536 }, /body\.priority: must be <= 65535/],
    ['POST /firewalls', { name: 'fw', allowed: [{ protocol: 'tcp' }] }, /body\.allowed\[0\]: protocol is not known/],
    ['POST /firewalls', { name: 'fw', id: 7 }, /body\.id: must be string/],
    ['GET /firewalls?maxResults=501', undefined, /query\.maxResults: must be <= 500/],
    ['GET /firewalls?filter=x', undefined, /query: filter is not known/],
    ['GET /firewalls/F', undefined, /path\.firewall: must match pattern/],
  ];
  for (const [line, body, problem] of cases) {
    assert.equal((await ask(cloud, line.replace(' ', ` ${HERE}`), body)).status, 400, line);
    assert.match(cloud.calls.takeProblems().join(), problem);
  }
  assert.throws(
    () => fakeCloud({ clock: new FakeClock(), discovery: {}, table: { resources: {} } }),
    /no discovery#restDescription/,
  );
});
