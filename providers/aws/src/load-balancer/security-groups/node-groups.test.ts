import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallContext } from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import type { AwsClient } from '../../client/aws-client.ts';
import { NodeGroups } from './node-groups.ts';

const call: CallContext = {
  signal: new AbortController().signal,
  priority: 'normal',
  logger: silentLogger,
  call: (_operation, send) => send(call.signal),
};

/** Of an account in which each instance has the group `sg-<its ID>`. */
function groupsOf(ask: (ids: readonly string[]) => Promise<void>): NodeGroups {
  const ec2 = async (_call: CallContext, _operation: string, { InstanceIds: ids = [] }: { InstanceIds?: string[] }) => {
    await ask(ids);
    const Tags = [{ Key: 'kubernetes.io/cluster/c1', Value: 'owned' }];
    const Instances = ids.map((InstanceId) => ({
      InstanceId,
      Tags,
      SecurityGroups: [{ GroupId: `sg-${InstanceId}` }],
    }));
    return { Reservations: [{ Instances }] };
  };
  const own = { known: { vpcId: 'vpc-1', tags: { id: 'c1', isLegacy: false } } };
  return new NodeGroups({ client: { ec2: ec2 as AwsClient['ec2'] }, clock: new FakeClock(), named: () => [], own });
}

test('Services that come together ask once for the instances that they share', async () => {
  const asked: string[] = [];
  const groups = groupsOf(async (ids) => void asked.push(ids.join()));
  await Promise.all([
    groups.learn(['i-1', 'i-2'], call),
    groups.learn(['i-2', 'i-3'], call),
    groups.learn(['i-1'], call),
  ]);
  assert.deepEqual(asked, ['i-1,i-2', 'i-3']);
  assert.deepEqual(
    ['i-1', 'i-2', 'i-3'].map((id) => groups.groupOf(id, new Set())),
    ['sg-i-1', 'sg-i-2', 'sg-i-3'],
  );
});

test('what one could not find out, the next one asks for', async () => {
  let failing = true;
  const groups = groupsOf(async () => {
    if (failing) throw new Error('down');
  });
  const [first, second] = await Promise.allSettled([
    groups.learn(['i-1'], call),
    Promise.resolve().then(() => {
      failing = false;
      return groups.learn(['i-1'], call);
    }),
  ]);
  assert.deepEqual([first?.status, second?.status], ['rejected', 'fulfilled']);
  assert.equal(groups.groupOf('i-1', new Set()), 'sg-i-1');
});
