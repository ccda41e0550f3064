import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SchemaChecks, type JsonSchema } from './schema-check.ts';

const port = (minimum: number): JsonSchema => ({ type: 'object', properties: { port: { type: 'integer', minimum } } });

test('what is compiled once for all clouds is the text of a schema: problems are each check’s own', () => {
  const [first, second] = [new SchemaChecks().check('body', port(1)), new SchemaChecks().check('query', port(1))];
  assert.deepEqual(first({ port: 0 }), ['body.port: must be >= 1, not 0']);
  assert.deepEqual(second({ port: 0, name: 'a' }), ['query.port: must be >= 1, not 0', 'query: name is not known']);
  assert.deepEqual(first({ port: 1 }), []);
  assert.deepEqual(new SchemaChecks().check('body', port(5))({ port: 1 }), ['body.port: must be >= 5, not 1']);
});

test('schemas of two clouds that give one name to different things are judged each by its own', () => {
  const named = (type: string): JsonSchema => ({
    $id: 'https://acme.test/thing',
    $defs: { thing: { type } },
    type: 'object',
    properties: { thing: { $ref: '#/$defs/thing' } },
  });
  const [first, second] = ['string', 'integer'].map((type) => new SchemaChecks().check('body', named(type)));
  assert.deepEqual(first?.({ thing: 1 }), ['body.thing: must be string, not 1']);
  assert.deepEqual(second?.({ thing: 1 }), []);
});
