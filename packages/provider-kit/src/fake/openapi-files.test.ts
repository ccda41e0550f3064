import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { ask } from './asked.suite.ts';
import { bundleOpenApi } from './openapi-files.ts';
import { fakeCloud } from './start-fake-cloud.ts';

/** As clouds with many services split theirs: paths, schemas and what all have in common, in folders. */
const document = {
  openapi: '3.0.3',
  paths: { '/servers': { $ref: 'paths/servers.yaml' }, '/servers/{id}': { $ref: './paths/servers.yaml#/one' } },
  components: { schemas: { Own: { type: 'string' } } },
};
const answer = (schema: object) => ({ 200: { content: { 'application/json': { schema } } } });
const openapiFiles = {
  'paths/servers.yaml': {
    get: {
      operationId: 'list_servers',
      parameters: [{ $ref: '../common.yaml#/parameters/Page' }],
      responses: answer({ type: 'array', items: { $ref: '../schemas/server.yaml#/Server' } }),
    },
    one: {
      get: {
        operationId: 'get_server',
        parameters: [{ $ref: '#/id' }],
        responses: answer({ $ref: '../schemas/server.yaml#/Server' }),
      },
    },
    id: { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
  },
  'schemas/server.yaml': {
    Server: {
      type: 'object',
      properties: { id: { type: 'string' }, zone: { $ref: '#/Zone' }, parent: { $ref: 'server.yaml#/Server' } },
      required: ['id'],
    },
    Zone: { enum: ['a', 'b'] },
  },
  'common.yaml': {
    parameters: { Page: { $ref: '#/pages/Page' } },
    pages: { Page: { name: 'page', in: 'query', schema: { type: 'integer', minimum: 1 } } },
  },
};

test('a document of several files is one: paths, parameters and schemas by `$ref`, relative to the file that names them, also in circles', async () => {
  const servers = [{ id: 's-1', zone: 'a', parent: { id: 's-0' } }] as object[];
  const cloud = fakeCloud({
    clock: new FakeClock(),
    openapi: document,
    openapiFiles,
    table: { resources: {} },
    behaviours: {
      list_servers: () => ({ body: servers }),
      get_server: ({ input }) => ({ body: { id: input.params['id'] } }),
    },
  });
  assert.deepEqual((await ask(cloud, 'GET /servers?page=1')).body, servers);
  assert.deepEqual((await ask(cloud, 'GET /servers/s-2')).body, { id: 's-2' });
  assert.deepEqual(cloud.calls.takeProblems(), []);
  await ask(cloud, 'GET /servers?page=0');
  assert.match(cloud.calls.takeProblems().join(), /query\.page: must be >= 1/);
  servers.push({ id: 's-3', parent: { id: 's-4', zone: 'c', sise: 1 } });
  await ask(cloud, 'GET /servers');
  const problems = cloud.calls.takeProblems().join();
  assert.match(problems, /\[1\]\.parent\.zone: must be one of a, b/);
  assert.match(problems, /\[1\]\.parent: sise is not known/);
});

test('of Swagger 2 they are definitions; what no file has is named, with who names it', () => {
  const swagger = { swagger: '2.0', paths: { '/a': { $ref: 'a.json' } }, definitions: { Own: {} } };
  const bundled = bundleOpenApi(swagger, { 'a.json': { get: {} } });
  assert.deepEqual(bundled, {
    swagger: '2.0',
    paths: { '/a': { $ref: '#/definitions/a_json' } },
    definitions: { Own: {}, a_json: { get: {} } },
  });
  assert.throws(
    () => bundleOpenApi(document, {}),
    /the document names paths\/servers\.yaml, which is in no file of openapiFiles: $/u,
  );
  const half = { ...openapiFiles, 'common.yaml': { parameters: {} } };
  assert.throws(
    () => bundleOpenApi(document, half),
    /paths\/servers\.yaml names \.\.\/common\.yaml#\/parameters\/Page, which common\.yaml does not have/u,
  );
  const one = { openapi: '3.1.0', paths: {}, components: { schemas: { A: { $ref: '#/components/schemas/B' } } } };
  assert.deepEqual(bundleOpenApi(one, {}), one, 'what is of one file stays as it is');
});
