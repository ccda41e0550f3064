import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { ask, refusalIn } from './asked.suite.ts';
import type { FakeCloud } from './fake-cloud.ts';
import type { FakeThing } from './fake-table.ts';
import { readOpenApi } from './openapi.ts';
import { fakeCloud, type FakeCloudOptions } from './start-fake-cloud.ts';

const text = { type: 'string' };
const json = (schema: object) => ({ content: { 'application/json': { schema } } });
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

/** As small clouds describe themselves: things wrapped by their kind, pages with counts, actions. */
const document = {
  openapi: '3.0.3',
  servers: [{ url: 'https://api.cloud.example/v1' }],
  paths: {
    '/servers': {
      get: {
        operationId: 'list_servers',
        parameters: [
          { name: 'status', in: 'query', schema: { type: 'array', items: { enum: ['running', 'off'] } } },
          { $ref: '#/components/parameters/Page' },
        ],
        responses: {
          200: json({
            type: 'object',
            properties: { servers: { type: 'array', items: ref('Server') }, meta: ref('Meta') },
            required: ['servers', 'meta'],
          }),
        },
      },
      post: {
        operationId: 'create_server',
        requestBody: { required: true, ...json(ref('CreateServer')) },
        responses: {
          201: json({
            type: 'object',
            properties: { server: ref('Server'), action: ref('Action') },
            required: ['server', 'action'],
          }),
          default: { $ref: '#/components/responses/Error' },
        },
      },
    },
    '/servers/{server_id}': {
      parameters: [{ name: 'server_id', in: 'path', required: true, schema: { type: 'string', pattern: '^srv-' } }],
      get: {
        operationId: 'get_server',
        responses: { 200: json({ type: 'object', properties: { server: ref('Server') } }) },
      },
      put: {
        operationId: 'update_server',
        requestBody: { required: true, ...json(ref('Server')) },
        responses: { 200: json({ type: 'object', properties: { server: ref('Server') } }) },
      },
      delete: { operationId: 'delete_server', responses: { 204: { description: 'gone' } } },
    },
    '/pricing': {
      get: {
        operationId: 'get_pricing',
        parameters: [{ name: 'X-Region', in: 'header', required: true }],
        responses: { 200: json({}) },
      },
    },
  },
  components: {
    parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } } },
    responses: {
      Error: json({
        type: 'object',
        properties: {
          error: { type: 'object', properties: { code: text, message: text }, required: ['code', 'message'] },
        },
        required: ['error'],
      }),
    },
    schemas: {
      Named: { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] },
      CreateServer: {
        allOf: [
          ref('Named'),
          { type: 'object', properties: { image: text, labels: { type: 'object', additionalProperties: text } } },
        ],
      },
      Server: {
        allOf: [
          ref('Named'),
          {
            type: 'object',
            properties: {
              id: { type: 'string', readOnly: true },
              status: { type: 'string', enum: ['running', 'off'], readOnly: true },
              image: { type: 'string', nullable: true },
              labels: { type: 'object', additionalProperties: text },
              disk: { type: 'integer', minimum: 0, exclusiveMinimum: true },
            },
            required: ['id', 'status'],
          },
        ],
      },
      Action: {
        type: 'object',
        properties: { id: text, status: { enum: ['running', 'done', 'failed'] } },
        required: ['id', 'status'],
      },
      Meta: {
        type: 'object',
        properties: {
          pagination: {
            type: 'object',
            properties: { next_page: { type: 'integer', nullable: true }, total: { type: 'integer' } },
            required: ['total'],
          },
        },
      },
    },
  },
};

function cloudOf(more: Partial<FakeCloudOptions> = {}): FakeCloud & { readonly clock: FakeClock } {
  const clock = new FakeClock();
  const cloud = fakeCloud({
    clock,
    openapi: document,
    table: {
      paging: {
        by: 'page',
        parameter: 'page',
        size: 2,
        next: { member: 'meta.pagination.next_page' },
        told: ({ total }) => ({ meta: { pagination: { total } } }),
      },
      resources: {
        servers: {
          path: '/v1/servers',
          id: 'srv-{n}',
          item: 'server',
          items: 'servers',
          wrapsRequests: false,
          states: { member: 'status', ready: 'running' },
          filters: { status: 'status' },
        },
      },
    },
    behaviours: {
      create_server: ({ usual }) => {
        const { body, ...result } = usual();
        return { ...result, body: { ...(body as object), action: { id: 'a-1', status: 'done' } } };
      },
    },
    ...more,
  });
  return Object.assign(cloud, { clock });
}

test('operations do what the table says of their path; what the table does not say, a behaviour adds', async () => {
  const cloud = cloudOf();
  const made = await ask(cloud, 'POST /v1/servers', { name: 'a', labels: { x: 'y' } });
  const server = { id: 'srv-1', name: 'a', labels: { x: 'y' }, status: 'running' };
  assert.deepEqual([made.status, made.body], [201, { server, action: { id: 'a-1', status: 'done' } }]);
  assert.deepEqual((await ask(cloud, 'GET /v1/servers/srv-1')).body, { server });
  for (const name of ['b', 'c']) await ask(cloud, 'POST /v1/servers', { name });
  const first = (await ask(cloud, 'GET /v1/servers?status=running')).body as { servers: FakeThing[]; meta: unknown };
  assert.deepEqual([first.servers.length, first.meta], [2, { pagination: { total: 3, next_page: 2 } }]);
  assert.equal(((await ask(cloud, 'GET /v1/servers?page=2')).body as { servers: FakeThing[] }).servers.length, 1);
  const removed = await ask(cloud, 'DELETE /v1/servers/srv-1');
  assert.deepEqual([removed.status, removed.body], [204, undefined]);
  assert.deepEqual(cloud.calls.counts(), { create_server: 3, get_server: 1, list_servers: 2, delete_server: 1 });
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('requests are judged by the model, through what its schemas are composed of', async () => {
  const cloud = cloudOf();
  const cases: readonly (readonly [line: string, body: unknown, problem: string])[] = [
    ['POST /v1/servers', { name: 'a', imgae: 'x' }, 'body: imgae is not known'],
    ['POST /v1/servers', { image: 'x' }, 'body: name is missing'],
    ['POST /v1/servers', { name: '' }, 'body.name: must NOT have fewer than 1 characters, not ""'],
    ['POST /v1/servers', { name: 'a', labels: { x: 1 } }, 'body.labels.x: must be string, not 1'],
    ['POST /v1/servers', undefined, 'body: is missing'],
    ['GET /v1/servers?status=on', undefined, 'query.status[0]: must be one of running, off, not "on"'],
    ['GET /v1/servers?page=0', undefined, 'query.page: must be >= 1, not 0'],
    ['GET /v1/servers?zone=a', undefined, 'query: zone is not known'],
    ['GET /v1/servers/7', undefined, 'path.server_id: must match pattern "^srv-", not "7"'],
    ['DELETE /v1/servers/srv-1', {}, 'body: there is none in the model'],
    ['GET /v1/pricing', undefined, 'headers: X-Region is missing'],
    ['PUT /v1/servers/srv-1', { name: 'a', disk: 0 }, 'body.disk: must be > 0, not 0'],
  ];
  for (const [line, body, problem] of cases) {
    assert.equal((await ask(cloud, line, body)).status, 400, line);
    assert.ok(
      cloud.calls.takeProblems().some((one) => one.endsWith(`: request: ${problem}`)),
      `${problem}: ${JSON.stringify(cloud.calls.all().at(-1))}`,
    );
  }
});

test('read-only members are taken and not believed; null is where the model has it', async () => {
  const cloud = cloudOf();
  cloud.resource('servers').put({ id: 'srv-7', name: 'a', status: 'off', image: null });
  const { body } = await ask(cloud, 'GET /v1/servers/srv-7');
  const { server } = body as { server: FakeThing };
  await ask(cloud, 'PUT /v1/servers/srv-7', { ...server, name: 'b', status: 'running' });
  assert.deepEqual(cloud.resource('servers').get('srv-7'), { id: 'srv-7', name: 'b', status: 'off', image: null });
  assert.deepEqual(cloud.calls.takeProblems(), []);
});

test('answers are judged too: a status, a body or an error that the model does not have', async () => {
  const cloud = cloudOf({
    behaviours: {
      create_server: ({ usual }) => usual(),
      get_server: () => ({ body: { server: { id: 'srv-1', name: 'a', status: 'on' } } }),
      delete_server: () => ({ status: 204, body: { surprise: 1 } }),
    },
  });
  await ask(cloud, 'POST /v1/servers', { name: 'a' });
  await ask(cloud, 'GET /v1/servers/srv-1');
  await ask(cloud, 'DELETE /v1/servers/srv-1');
  assert.deepEqual(cloud.calls.takeProblems(), [
    'create_server: answer: body: action is missing',
    'get_server: answer: body.server.status: must be one of running, off, not "on"',
  ]);
  const odd = cloudOf({
    table: { resources: { servers: { path: '/v1/servers', most: 0 } }, errors: { body: () => ({ fault: 'x' }) } },
    behaviours: {},
  });
  await ask(odd, 'POST /v1/servers', { name: 'a' });
  assert.deepEqual(odd.calls.takeProblems(), [
    'create_server: answer: body: error is missing',
    'create_server: answer: body: fault is not known',
  ]);
});

test('an operation of which nothing is said is refused; a behaviour of none that the model has is a mistake', async () => {
  const cloud = cloudOf();
  const answer = await ask(cloud, 'GET /v1/pricing', undefined, { 'x-region': 'r' });
  assert.deepEqual(refusalIn(answer), [404, 'no_route']);
  assert.match(JSON.stringify(answer.body), /nothing is said of what get_pricing does/);
  assert.throws(
    () => cloudOf({ behaviours: { delete_servre: () => ({}) } }),
    /delete_servre, which the model does not have/,
  );
  assert.throws(() => cloudOf({ openapi: {} }), /neither OpenAPI 3 nor Swagger 2.0/);
});

test('Swagger 2, as Azure describes itself', async () => {
  const path = '/subscriptions/{subscriptionId}/providers/Network/loadBalancers/{loadBalancerName}';
  const version = { name: 'api-version', in: 'query', required: true, type: 'string' };
  const balancer = { schema: { $ref: '#/definitions/LoadBalancer' } };
  const swagger = {
    swagger: '2.0',
    parameters: { Version: version },
    paths: {
      [path]: {
        get: {
          operationId: 'LoadBalancers_Get',
          parameters: [{ $ref: '#/parameters/Version' }],
          responses: { 200: balancer },
        },
        put: {
          operationId: 'LoadBalancers_CreateOrUpdate',
          parameters: [
            { $ref: '#/parameters/Version' },
            { name: 'parameters', in: 'body', required: true, ...balancer },
          ],
          responses: { 200: balancer, 201: balancer },
        },
      },
    },
    definitions: {
      Resource: { type: 'object', properties: { name: { type: 'string', readOnly: true }, location: text } },
      LoadBalancer: {
        allOf: [{ $ref: '#/definitions/Resource' }],
        properties: {
          etag: { type: 'string', readOnly: true },
          properties: {
            type: 'object',
            properties: { idleTimeoutInMinutes: { type: 'integer', format: 'int32', maximum: 100 } },
          },
        },
      },
    },
  };
  const cloud = cloudOf({
    openapi: swagger,
    behaviours: {},
    table: {
      resources: {
        balancers: {
          path: path.slice(0, path.lastIndexOf('/')),
          create: 'PUT',
          idMember: 'name',
          versions: { by: 'etag' },
        },
      },
    },
  });
  const at = '/subscriptions/s/providers/Network/loadBalancers/lb?api-version=1';
  const made = await ask(cloud, `PUT ${at}`, {
    location: 'west',
    name: 'other',
    properties: { idleTimeoutInMinutes: 4 },
  });
  assert.deepEqual([made.status, (made.body as FakeThing)['name']], [201, 'lb']);
  assert.equal((await ask(cloud, `PUT ${at}`, { location: 'west' }, { 'if-match': '"0"' })).status, 412);
  assert.equal(
    (await ask(cloud, `PUT ${at}`, { location: 'west' }, { 'if-match': made.headers['etag'] ?? '' })).status,
    200,
  );
  assert.deepEqual(cloud.calls.takeProblems(), []);
  await ask(cloud, `PUT ${at}`, { properties: { idleTimeoutInMinutes: 101, other: 1 } });
  await ask(cloud, `GET ${at.split('?')[0]}`);
  assert.deepEqual(cloud.calls.takeProblems(), [
    'LoadBalancers_CreateOrUpdate: request: body.properties.idleTimeoutInMinutes: must be <= 100, not 101',
    'LoadBalancers_CreateOrUpdate: request: body.properties: other is not known',
    'LoadBalancers_Get: request: query: api-version is missing',
  ]);
});

test('a document is read with the names, paths and parameters that it has', () => {
  const names = readOpenApi(document).operations.map(({ method, name, path }) => `${name}: ${method} ${path}`);
  assert.ok(names.includes('get_server: GET /v1/servers/{server_id}'));
  assert.equal(names.length, 6);
});
