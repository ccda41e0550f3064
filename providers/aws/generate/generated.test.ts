import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { apiOf } from './generate-apis.ts';
import { calledModel, readModel, typesOf } from './generate-types.ts';
import { services } from './operations.ts';

/** Whatever the formatter makes of it. */
const bare = (text: string): string =>
  text
    .replaceAll(/[\s'"]/gu, '')
    .replaceAll(/[,;](?=[}\])])/gu, '')
    .replaceAll(/(?<=[:=])\|/gu, '');

for (const service of services) {
  const { name, operations } = service;
  const model = readModel(name);
  const read = (file: string): string =>
    readFileSync(new URL(`../src/client/generated/${file}`, import.meta.url), 'utf8');

  test(`${name}: the models have the operations that are listed, and what is generated is of them (else: node generate/generate-types.ts, generate-apis.ts, and the formatter)`, () => {
    assert.deepEqual(Object.keys(model.operations).toSorted(), operations.toSorted());
    assert.equal(bare(read(`${name}.ts`)), bare(typesOf(model, service)));
    assert.equal(bare(read(`${name}-api.ts`)), bare(apiOf(name, calledModel(model, service))));
  });
}
