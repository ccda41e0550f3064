import assert from 'node:assert/strict';
import { test } from 'node:test';
import { awsCodeOf, namedIn } from './aws-errors.ts';
import { awsRig, ec2Error } from './aws-rig.suite.ts';
import { pages } from './pages.ts';

const INSTANCES = `<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstancesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
    <requestId>8f7724cf-496f-496e-8fe3-example</requestId>
    <reservationSet><item><reservationId>r-1</reservationId><ownerId>123456789012</ownerId><groupSet/>
      <instancesSet><item>
        <instanceId>i-1234567890abcdef0</instanceId><instanceState><code>16</code><name>running</name></instanceState>
        <blockDeviceMapping><item><ebs><tagSet><item><key>a</key></item></tagSet></ebs></item></blockDeviceMapping>
        <launchTime>2026-11-23T11:00:00.000Z</launchTime><sourceDestCheck>true</sourceDestCheck>
        <networkInterfaceSet/><tagSet><item><key>Name</key><value>a &lt;b&gt; &amp; &#99;</value></item></tagSet>
      </item></instancesSet></item></reservationSet>
</DescribeInstancesResponse>`;

test('a request is a signed form, and of the answer what the tables have is read', async () => {
  await using rig = await awsRig(() => ({ text: INSTANCES }));
  const answer = await rig.client.ec2(rig.call, 'DescribeInstances', {
    Filters: [{ Name: 'tag-key', Values: ["it's (a) *"] }],
    MaxResults: 1000,
  });
  assert.deepEqual(answer, {
    Reservations: [
      {
        Instances: [
          {
            InstanceId: 'i-1234567890abcdef0',
            State: { Name: 'running' },
            NetworkInterfaces: [],
            Tags: [{ Key: 'Name', Value: 'a <b> & c' }],
          },
        ],
      },
    ],
  });
  const [sent] = rig.sent;
  assert.equal(sent?.url, 'https://ec2.eu-central-1.amazonaws.com/');
  assert.deepEqual(Object.fromEntries(sent.form), {
    Action: 'DescribeInstances',
    Version: '2016-11-15',
    'Filter.1.Name': 'tag-key',
    'Filter.1.Value.1': "it's (a) *",
    MaxResults: '1000',
  });
  assert.match(
    sent.headers['authorization'] ?? '',
    /^AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE\/20261123\/eu-central-1\/ec2\/aws4_request, SignedHeaders=[a-z;-]*host[a-z;-]*, Signature=[0-9a-f]{64}$/u,
  );
});

test('all pages are read, with the same question and the next token', async () => {
  await using rig = await awsRig(({ form }) => ({
    text: `<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>${form.get('NextToken') ?? 'first'}</instanceId></item></instancesSet></item></reservationSet>${
      form.has('NextToken') ? '<nextToken/>' : '<nextToken>second</nextToken>'
    }</DescribeInstancesResponse>`,
  }));
  const found = await pages(rig.client.ec2, rig.call, 'DescribeInstances', { MaxResults: 5 });
  assert.deepEqual(
    found.map(({ Instances }) => Instances?.[0]?.InstanceId),
    ['first', 'second'],
  );
  assert.deepEqual(
    rig.sent.map(({ form }) => [form.get('MaxResults'), form.get('NextToken')]),
    [
      ['5', null],
      ['5', 'second'],
    ],
  );
});

test('a list to which AWS always names another page ends as unavailable', async () => {
  let answered = 0;
  const endless = (): Promise<object> => {
    answered += 1;
    assert.ok(answered <= 6_000, 'it has no end');
    return Promise.resolve({ Reservations: [], NextToken: `${answered}` });
  };
  await using rig = await awsRig(() => ({ text: '' }));
  await assert.rejects(pages(endless as typeof rig.client.ec2, rig.call, 'DescribeInstances', {}), {
    code: 'unavailable',
    message: /^AWS: DescribeInstances: more than 5000 pages/u,
  });
});

test('lists of the ELB APIs are written and read by theirs', async () => {
  await using rig = await awsRig(({ form }) => ({
    text: `<DescribeTargetGroupsResponse xmlns="x"><DescribeTargetGroupsResult><TargetGroups><member><TargetGroupArn>${
      form.get('Marker') ?? 'first'
    }</TargetGroupArn><Port>80</Port><LoadBalancerArns><member>arn:a</member><member>arn:b</member></LoadBalancerArns></member></TargetGroups>${
      form.has('Marker') ? '' : '<NextMarker>m2</NextMarker>'
    }</DescribeTargetGroupsResult><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata></DescribeTargetGroupsResponse>`,
  }));
  const found = await pages(rig.client.elbv2, rig.call, 'DescribeTargetGroups', { Names: ['a', 'b'] });
  assert.deepEqual(found, [
    { TargetGroupArn: 'first', Port: 80, LoadBalancerArns: ['arn:a', 'arn:b'] },
    { TargetGroupArn: 'm2', Port: 80, LoadBalancerArns: ['arn:a', 'arn:b'] },
  ]);
  assert.equal(rig.sent[0]?.form.get('Names.member.2'), 'b');
});

test('an error has the code of AWS, and all IDs that it names', async () => {
  const ids = Array.from({ length: 200 }, (_, n) => `i-${n.toString(16).padStart(17, '0')}`);
  await using rig = await awsRig(() =>
    ec2Error('InvalidInstanceID.NotFound', `The instance IDs '${ids.join(', ')}' do not exist`),
  );
  await assert.rejects(rig.client.ec2(rig.call, 'DescribeInstances', { InstanceIds: ids }), (error: Error) => {
    assert.equal(awsCodeOf(error), 'InvalidInstanceID.NotFound');
    assert.deepEqual(namedIn(error, /\bi-[0-9a-f]+\b/gu), ids);
    assert.ok(error.message.length < 600, error.message);
    return true;
  });
});
