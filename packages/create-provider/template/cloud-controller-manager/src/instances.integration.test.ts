import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addServer } from '../fake/fake-cloud.ts';
import { nodeOf, openOnFake } from '../fake/open-provider.ts';

test('a machine is found by the name of its node, with all that a node gets of it', async () => {
  await using provider = await openOnFake();
  addServer(provider.cloud, 'node-1');
  const answers = await provider.of('instances').lookUp([nodeOf('node-1'), nodeOf('no-2')], 'metadata', provider.call);
  assert.deepEqual(
    answers.map(({ result }) => result),
    [
      {
        kind: 'found',
        instance: {
          providerID: 'my-cloud://srv-node-1',
          state: 'running',
          type: 'm1',
          zone: 'north-1a',
          region: 'north-1',
          addresses: [{ type: 'InternalIP', address: '10.1.0.1' }],
        },
      },
      { kind: 'missing' },
    ],
  );
});

test('a machine is gone by the word of the cloud about its own ID, and by nothing else', async () => {
  await using provider = await openOnFake();
  addServer(provider.cloud, 'node-1');
  const read = async (id: string): Promise<string> => {
    const node = nodeOf('node-1', `my-cloud://${id}`);
    const answer = await provider.of('instances').read(node, 'state', provider.call);
    return answer.result.kind;
  };
  assert.equal(await read('srv-node-1'), 'found');
  assert.equal(await read('srv-none'), 'absent');
  // A 404 that is not in the words of the API: a proxy, a wrong path.
  provider.cloud.faults.set({ status: 404, body: 'no such page' });
  await assert.rejects(read('srv-none'), { code: 'unavailable' });
  await assert.rejects(read('srv-node-1'), { code: 'unavailable' });
});
