import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, ClusterPlace, isCloudError, type NodeRef } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { hostWith } from '../group-commit/shared-object.suite.ts';
import { instancesFromList } from './instances-from-list.ts';

const call = hostWith(new FakeClock()).callContext();
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
    place: 'project-1',
    result: { kind: 'found', instance: { providerID: 'acme://3', state: 'running' } },
  });
  assert.ok(answers[1]?.result.kind === 'failed' && isCloudError(answers[1].result.error, 'conflict'));
  assert.deepEqual(await instances.read(node('a', 'acme://9'), 'state', call), {
    place: 'project-1',
    result: { kind: 'absent', proof: 'no 9' },
  });
  place = undefined;
  assert.deepEqual(await instances.read(node('a'), 'state', call), { result: { kind: 'missing' } });
  assert.equal((await instances.read(node('a', 'acme://1'), 'state', call)).result.kind, 'found');
  await assert.rejects(instances.read(node('a', 'acme://down'), 'state', call), (error) =>
    isCloudError(error, 'unavailable'),
  );
});

test('with a ClusterPlace, a "not found" proves nothing before a machine of the cluster was seen there', async () => {
  const instances = instancesFromList({
    name: 'acme',
    place: new ClusterPlace({ what: 'account', setBy: 'token in the cloud config', ask: async () => 'account-1' }),
    machines: {
      list: async () => machines,
      read: async (id) => {
        throw new CloudError('not-found', `no ${id}`);
      },
    },
    instanceOf: (machine) => ({ ...machine, state: 'running' }),
  });
  const gone = node('x', 'acme://gone');
  await assert.rejects(
    instances.read(gone, 'state', call),
    (error) => isCloudError(error, 'configuration') && /check token in the cloud config/u.test(error.message),
  );
  const [found] = await instances.lookUp([node('x', 'acme://1')], 'state', call);
  assert.deepEqual([found?.result.kind, found?.place], ['found', 'account-1']);
  const { place, result } = await instances.read(gone, 'state', call);
  assert.deepEqual([result, place], [{ kind: 'absent', proof: 'no gone' }, 'account-1']);
});
