import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { adaptInstances, type CallContext, type NodeRef } from './index.ts';

const call = {} as CallContext;
const node = (name: string, providerID?: string): NodeRef => ({
  name,
  uid: name,
  providerID,
  labels: {},
  annotations: {},
});

test('one node that fails leaves the others; only a direct read of a provider ID proves absence', async () => {
  const instances = adaptInstances({
    get: async ({ name }) => {
      if (name === 'bad') throw new Error('down');
      return name === 'a' ? { providerID: 'x://a', state: 'running' } : undefined;
    },
  });
  const answers = await instances.lookUp([node('a'), node('bad'), node('gone', 'x://gone')], 'state', call);
  assert.deepEqual(
    answers.map(({ result }) => result.kind),
    ['found', 'failed', 'missing'],
  );
  assert.equal((await instances.read(node('gone', 'x://gone'), 'state', call)).result.kind, 'absent');
  assert.equal((await instances.read(node('gone'), 'state', call)).result.kind, 'missing');
  assert.equal((await instances.read(node('bad', 'x://bad'), 'state', call)).result.kind, 'failed');
});
