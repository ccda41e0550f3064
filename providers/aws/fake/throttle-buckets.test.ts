import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DescribeInstancesCommand, EC2Client, type EC2ServiceException } from '@aws-sdk/client-ec2';
import { DescribeLoadBalancersCommand, ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws } from './fake-aws.ts';
import { sdkOptions } from './sdk-options.suite.ts';
import { ThrottleBuckets } from './throttle-buckets.ts';

function tokens(take: () => boolean): number {
  let count = 0;
  while (take()) count++;
  return count;
}

test('each bucket has its burst, and fills at its rate', async () => {
  const clock = new FakeClock();
  const buckets = new ThrottleBuckets(clock);
  const describe = (): boolean => buckets.take('ec2', 'DescribeInstances', {});
  const narrow = (): boolean => buckets.take('ec2', 'DescribeInstances', { Filters: [{ Name: 'vpc-id' }] });
  const topology = (): boolean => buckets.take('ec2', 'DescribeInstanceTopology', {});
  const create = (): boolean => buckets.take('elbv2', 'CreateLoadBalancer', {});
  const classic = (): boolean => buckets.take('elb', 'CreateLoadBalancer', {});
  const register = (): boolean => buckets.take('elbv2', 'RegisterTargets', {});
  assert.deepEqual([describe, narrow, topology, create, classic].map(tokens), [50, 100, 1, 10, 10]);
  // 40 of all actions together, of which 10 are gone.
  assert.deepEqual([register].map(tokens), [20]);
  await clock.advance(1_000);
  assert.deepEqual([describe, narrow, topology, create, register].map(tokens), [10, 20, 1, 0, 4]);
  await clock.advance(4_000);
  assert.deepEqual([create].map(tokens), [1]);
  assert.ok(buckets.refused > 0);
});

test('an empty bucket is told in the words of its service', async () => {
  const aws = createFakeAws({ clock: new FakeClock(), knobs: { throttles: true } });
  const ec2 = new EC2Client(sdkOptions(aws));
  const elb = new ElasticLoadBalancingV2Client(sdkOptions(aws));
  for (let n = 0; n < 50; n++) await ec2.send(new DescribeInstancesCommand({}));
  await assert.rejects(ec2.send(new DescribeInstancesCommand({})), (error: EC2ServiceException) => {
    assert.deepEqual([error.name, error.$metadata.httpStatusCode], ['RequestLimitExceeded', 503]);
    return true;
  });
  for (let n = 0; n < 40; n++) await elb.send(new DescribeLoadBalancersCommand({}));
  await assert.rejects(elb.send(new DescribeLoadBalancersCommand({})), { name: 'Throttling' });
  assert.deepEqual(aws.takeProblems(), []);
});
