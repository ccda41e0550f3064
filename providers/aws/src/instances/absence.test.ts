/** When a node may be deleted: only where its instance is proved to be gone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import { AwsSite } from './aws-site.suite.ts';

const MINUTE_MS = 60_000;

/** Two nodes, both seen; the first one's instance. */
async function seen(): Promise<AwsSite & { readonly first: string }> {
  const site = new AwsSite({ nodes: 2 });
  await site.lookUp([site.node(0), site.node(1)]);
  return Object.assign(site, { first: site.cluster.instances[0]?.id ?? '' });
}

test('terminated: EC2 remembers it, and that proves the place too', async () => {
  const site = await seen();
  site.restart();
  site.aws.changeInstance(site.first, { state: 'terminated' });
  const answer = await site.instances.read(site.node(0), 'state', site.call);
  assert.deepEqual(answer.result, {
    kind: 'absent',
    proof: `DescribeInstances ${site.first}: its state is terminated`,
    wasHere: true,
  });
  assert.equal(answer.place, '123456789012/eu-central-1');
});

test('no longer shown: two reads say so, in the place where others were seen', async () => {
  const site = await seen();
  site.aws.forgetInstance(site.first);
  assert.deepEqual(await site.lookUp([site.node(0)]), ['missing']);
  assert.equal(
    await site.read(site.node(0)),
    `absent: DescribeInstances ${site.first}: InvalidInstanceID.NotFound, and with the filter instance-id=${site.first} it finds none`,
  );
});

test('where no instance of the cluster was seen, nothing is concluded', async () => {
  const site = await seen();
  site.restart();
  site.aws.forgetInstance(site.first);
  await assert.rejects(site.instances.read(site.node(0), 'state', site.call), {
    code: 'configuration',
    message: /No instance of this cluster has been seen in this account and region yet/u,
  });
  await site.lookUp([site.node(1)]);
  assert.match(await site.read(site.node(0)), /^absent: /u);
});

test('a node younger than five minutes whose instance EC2 does not show yet', async () => {
  const site = await seen();
  site.aws.knobs.ec2LagMs = 4 * MINUTE_MS;
  const subnetId = site.cluster.privateSubnets[0] ?? '';
  const tags = { 'kubernetes.io/cluster/kubernetes': 'owned' };
  const { id } = site.aws.addInstance({ subnetId, groupIds: [], isLaunched: true, tags });
  const node = { ...site.node(0), providerID: `aws:///eu-central-1a/${id}`, createdAt: site.clock.now() };
  assert.deepEqual([await site.lookUp([node]), await site.read(node)], [['missing'], 'missing']);
  await site.clock.advance(4 * MINUTE_MS);
  assert.match(await site.read(node), /^running /u);
  // It was there: what EC2 says now is no delay.
  site.aws.knobs.ec2LagMs = 0;
  site.aws.forgetInstance(id);
  assert.match(await site.read(node), /^absent: /u);
});

test('a young node that never was there is gone when it is old enough, by its own time or by the first look', async () => {
  const site = await seen();
  const never = { ...site.node(0), providerID: 'aws:///eu-central-1a/i-0123456789abcdef0' };
  assert.match(await site.read(never), /^absent: /u);
  const unknown = { ...never, providerID: 'aws:///eu-central-1a/i-0123456789abcdef1', createdAt: undefined };
  assert.equal(await site.read(unknown), 'missing');
  await site.clock.advance(5 * MINUTE_MS - 1);
  assert.equal(await site.read(unknown), 'missing');
  await site.clock.advance(1);
  assert.match(await site.read(unknown), /^absent: /u);
});

test('a node without a provider ID is never gone', async () => {
  const site = await seen();
  const node = site.node(0, { providerID: undefined });
  const named = site.node(0, { providerID: undefined, name: site.first });
  site.aws.changeInstance(site.first, { state: 'terminated' });
  assert.deepEqual([await site.read(node), await site.read(named)], ['missing', 'missing']);
  site.aws.forgetInstance(site.first);
  assert.deepEqual([await site.read(node), await site.read(named)], ['missing', 'missing']);
});

test('the second read finds it: it is there', async () => {
  const site = await seen();
  site.aws.faults.set({
    operation: 'DescribeInstances',
    status: 400,
    body: `<Response><Errors><Error><Code>InvalidInstanceID.NotFound</Code><Message>The instance ID '${site.first}' does not exist</Message></Error></Errors></Response>`,
    times: 1,
  });
  assert.match(await site.read(site.node(0)), /^running /u);
});

test('whatever fails leaves it unknown', async () => {
  for (const fault of [
    { operation: 'DescribeInstances', status: 503, code: 'RequestLimitExceeded' },
    { operation: 'DescribeInstances', status: 403, code: 'UnauthorizedOperation' },
    { operation: 'DescribeInstances', status: 500, code: 'InternalError' },
    { operation: 'DescribeInstances', status: 400, code: 'InvalidInstanceID.Other' },
  ]) {
    const site = await seen();
    site.aws.forgetInstance(site.first);
    site.aws.faults.set(fault);
    const answer = await site.read(site.node(0)).catch((error: unknown) => `threw ${String(error)}`);
    assert.match(answer, /^(?:failed|threw)/u, fault.code);
    site.aws.faults.set();
    assert.match(await site.read(site.node(0)), /^absent: /u);
  }
});

test('after a restart without STS: other nodes are looked up, and no absence counts', async () => {
  const site = await seen();
  site.restart();
  site.aws.forgetInstance(site.first);
  site.aws.faults.set({ operation: 'GetCallerIdentity', status: 503, code: 'ServiceUnavailable' });
  assert.match((await site.lookUp([site.node(1)])).join(), /^running /u);
  await assert.rejects(site.instances.read(site.node(0), 'state', site.call), { code: 'unavailable' });
  site.aws.faults.set();
  assert.match(await site.read(site.node(0)), /^absent: /u);
});

test('a node of another region, and one whose ID EC2 cannot read, may be there: nothing is concluded', async () => {
  const site = await seen();
  const elsewhere = site.node(0, { providerID: 'aws:///us-west-2a/i-0123456789abcdef0' });
  const { result } = await site.instances.read(elsewhere, 'state', site.call);
  assert.ok(result.kind === 'failed' && isCloudError(result.error, 'invalid'));
  assert.match(result.error.message, /us-west-2a, and only eu-central-1 is asked/u);
  assert.deepEqual(await site.lookUp([elsewhere, site.node(1)]), [
    `failed: ${result.error.message}`,
    `running ${site.node(1).providerID}`,
  ]);
  assert.match(await site.read(site.node(0, { providerID: 'aws:///eu-central-1a/i-0123' })), /^failed: /u);
  assert.match(await site.read(site.node(0, { providerID: 'aws:////i-0123456789abcdef0' })), /^absent: /u);
});
