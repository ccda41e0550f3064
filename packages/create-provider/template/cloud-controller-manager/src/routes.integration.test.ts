import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addServer } from '../fake/fake-cloud.ts';
import { nodeOf, openOnFake } from '../fake/open-provider.ts';

test('the route of a node is made once, and goes; a foreign one stays', async () => {
  await using provider = await openOnFake();
  addServer(provider.cloud, 'node-1');
  provider.cloud.resource('routes').put({ id: 'by-hand', destination: '10.9.0.0/24', server: 'srv-node-1' });
  const [routes, call] = [provider.of('routes'), provider.call];
  const node = nodeOf('node-1', 'my-cloud://srv-node-1');
  const request = { node, addresses: [], destination: '10.244.0.0/24' };
  assert.deepEqual(await routes.create([request], call), [{ kind: 'done' }]);
  assert.deepEqual(await routes.create([request], call), [{ kind: 'exists' }]);
  const listed = await routes.list(call);
  const own = listed.routes.filter(({ ownership }) => ownership === 'owned');
  assert.deepEqual(
    own.map(({ destination, targetProviderID }) => [destination, targetProviderID]),
    [['10.244.0.0/24', 'my-cloud://srv-node-1']],
  );
  assert.deepEqual(await routes.delete(own, call), [{ kind: 'done' }]);
  assert.deepEqual(provider.cloud.resource('routes').ids(), ['by-hand']);
});
