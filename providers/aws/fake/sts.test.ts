import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DescribeSubnetsCommand, EC2Client } from '@aws-sdk/client-ec2';
import { DescribeLoadBalancersCommand, ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import { AssumeRoleCommand, AssumeRoleWithWebIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws } from './fake-aws.ts';
import { sdkOptions } from './sdk-options.suite.ts';

const RoleArn = 'arn:aws:iam::123456789012:role/nodes';

test('who uses credentials of the fake signs with their secret, sends their token, and is not late', async () => {
  const clock = new FakeClock();
  const aws = createFakeAws({ clock });
  const sts = new STSClient(sdkOptions(aws));
  const answer = await sts.send(new AssumeRoleCommand({ RoleArn, RoleSessionName: 'session', DurationSeconds: 900 }));
  const {
    AccessKeyId: accessKeyId = '',
    SecretAccessKey: secretAccessKey = '',
    SessionToken: sessionToken = '',
  } = answer.Credentials ?? {};
  assert.equal(answer.AssumedRoleUser?.Arn, 'arn:aws:sts::123456789012:assumed-role/nodes/session');
  const credentials = { accessKeyId, secretAccessKey, sessionToken };
  const subnets = (given: object) =>
    new EC2Client({ ...sdkOptions(aws), credentials: { ...credentials, ...given } }).send(
      new DescribeSubnetsCommand({}),
    );
  await subnets({});
  await assert.rejects(subnets({ secretAccessKey: 'other' }), { name: 'AuthFailure' });
  await assert.rejects(subnets({ sessionToken: 'other' }), { name: 'AuthFailure' });
  await clock.advance(900_000);
  await assert.rejects(subnets({}), { name: 'RequestExpired' });
  const elb = new ElasticLoadBalancingV2Client({ ...sdkOptions(aws), credentials });
  await assert.rejects(elb.send(new DescribeLoadBalancersCommand({})), { name: 'ExpiredToken' });
  assert.deepEqual(aws.takeProblems(), []);
});

test('a web identity is its own proof, and needs no signature', async () => {
  const aws = createFakeAws({ clock: new FakeClock() });
  const sts = new STSClient(sdkOptions(aws));
  const input = { RoleArn, RoleSessionName: 'session', WebIdentityToken: 'a.b.c.d.e' };
  assert.match(
    (await sts.send(new AssumeRoleWithWebIdentityCommand(input))).Credentials?.AccessKeyId ?? '',
    /^ASIA[0-9A-F]{16}$/u,
  );
  assert.deepEqual(aws.takeProblems(), []);
});
