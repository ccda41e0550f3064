import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, isCloudError, type NodeRef } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { instancesFromList } from './instances-from-list.ts';

const clock = new FakeClock();
const call = hostWith(clock).callContext();
const machines = [
  { id: '1', name: 'a' },
  { id: '2', name: 'twice' },
  { id: '3', name: 'twice' },
];
const node = (name: string, providerID?: string): NodeRef => ({
  name,
  uid: name,
  labels: {},
  annotations: {},
  providerID,
});

test('by ID, else by a name that one machine has; a list proves no absence, a read does, in the place that is said', async () => {
  let place: string | undefined = 'project-1';
  const instances = instancesFromList({
    host: { clock },
    name: 'acme',
    place: () => place,
    machines: {
      list: async () => machines,
      read: async (id) => {
        if (id === 'down') throw new CloudError('unavailable', '503');
        const found = machines.find((one) => one.id === id);
        if (!found) throw new CloudError('not-found', `no ${id}`);
        return found;
      },
    },
    instanceOf: (machine) => ({ ...machine, state: 'running' }),
  });
  const nodes = [node('a'), node('twice'), node('x', 'acme://3'), node('a', 'other://1'), node('none')];
  const answers = await instances.lookUp(nodes, 'state', call);
  assert.deepEqual(
    answers.map(({ result }) => result.kind),
    ['found', 'failed', 'found', 'missing', 'missing'],
  );
  assert.deepEqual(answers[2], {
    asOf: 0,
    place: 'project-1',
    result: { kind: 'found', instance: { providerID: 'acme://3', state: 'running' } },
  });
  assert.ok(answers[1]?.result.kind === 'failed' && isCloudError(answers[1].result.error, 'conflict'));
  assert.deepEqual(await instances.read(node('a', 'acme://9'), 'state', call), {
    asOf: 0,
    place: 'project-1',
    result: { kind: 'absent', proof: 'no 9' },
  });
  place = undefined;
  assert.deepEqual(await instances.read(node('a'), 'state', call), { asOf: 0, result: { kind: 'missing' } });
  assert.equal((await instances.read(node('a', 'acme://1'), 'state', call)).result.kind, 'found');
  await assert.rejects(instances.read(node('a', 'acme://down'), 'state', call), (error) =>
    isCloudError(error, 'unavailable'),
  );
});
