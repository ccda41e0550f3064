import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { callOf, ScriptedClient } from '../instances/scripted-client.ts';
import { readIfThere, readOne } from './read-one.ts';

const GROUPS = ['network', '/v2.0/security-groups'] as const;
const call = callOf(silentLogger);

/** A service that answers each request so. */
function answering(answer: () => unknown): ScriptedClient {
  return Object.assign(new ScriptedClient(), { request: () => Promise.resolve().then(answer) });
}

test('the thing is what the answer holds under its own name', async () => {
  const client = answering(() => ({ security_group: { id: 'a' } }));
  assert.deepEqual(await readOne(client, GROUPS, 'a', call), { id: 'a' });
});

test('that there is none, a 404 says alone', async () => {
  const gone = answering(() => {
    throw new CloudError('not-found', 'there is none');
  });
  assert.equal(await readIfThere(gone, GROUPS, 'a', call), undefined);
  for (const answer of [{}, { security_group: null }, { port: { id: 'a' } }]) {
    const client = answering(() => answer);
    await assert.rejects(readIfThere(client, GROUPS, 'a', call), { code: 'unavailable' });
  }
  const down = answering(() => {
    throw new CloudError('unavailable', 'down');
  });
  await assert.rejects(readIfThere(down, GROUPS, 'a', call), { code: 'unavailable' });
});
