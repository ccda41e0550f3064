import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type Capabilities, type InstanceHint } from '@outrigger/cloud-provider';
import { readOnlyCapabilities } from './read-only-capabilities.ts';

class SomeRoutes {
  readonly batchSize = 7;
  readonly #routes = ['a'];
  readonly written: string[] = [];
  list(): Promise<readonly string[]> {
    return Promise.resolve(this.#routes);
  }
  create(): Promise<void> {
    this.written.push('create');
    return Promise.resolve();
  }
  /** Nothing that the contract has today. */
  tidyUp(): Promise<void> {
    this.written.push('tidyUp');
    return Promise.resolve();
  }
}

test('reads go through, to private members too; all else is refused and told, also what nobody has heard of', async () => {
  const routes = new SomeRoutes();
  const refused: string[] = [];
  const given = { routes } as unknown as Capabilities;
  const views = new WeakMap<object, object>();
  const view = readOnlyCapabilities(given, views, (what) => refused.push(what)).routes as unknown as SomeRoutes;
  assert.equal(view.batchSize, 7);
  assert.deepEqual(await view.list(), ['a']);
  for (const write of [() => view.create(), () => view.tidyUp()]) {
    await assert.rejects(write, (error) => isCloudError(error, 'unsupported'));
  }
  assert.deepEqual(refused, ['routes.create', 'routes.tidyUp']);
  assert.deepEqual(routes.written, []);
});

test('a capability that stays the same object stays the same here, and a missing one stays missing', () => {
  const views = new WeakMap<object, object>();
  const given = { routes: new SomeRoutes(), instances: undefined } as unknown as Capabilities;
  const [one, other] = [given, { ...given }].map((each) => readOnlyCapabilities(each, views, assert.fail));
  assert.equal(one?.routes, other?.routes);
  assert.equal(one?.instances, undefined);
  assert.notEqual(one?.routes, given.routes);
});

test('hints of changed machines are a read', async () => {
  const changes = async function* (): AsyncGenerator<InstanceHint> {
    yield await Promise.resolve({ name: 'a' });
  };
  const { instances } = readOnlyCapabilities(
    { instances: { changes } } as unknown as Capabilities,
    new WeakMap(),
    assert.fail,
  );
  assert.deepEqual(await Array.fromAsync(instances?.changes?.(undefined as never) ?? []), [{ name: 'a' }]);
});

test('a frozen provider is no obstacle', async () => {
  const routes = Object.freeze({ list: () => Promise.resolve(1), delete: () => assert.fail('written') });
  const view = readOnlyCapabilities({ routes } as unknown as Capabilities, new WeakMap(), () => {});
  assert.ok('list' in (view.routes ?? {}));
  await assert.rejects(async () => view.routes?.delete([], undefined as never));
});
