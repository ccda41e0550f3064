import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws } from './fake-aws.ts';

async function ask(
  aws: FakeAws,
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<readonly [number, string]> {
  const { signal } = new AbortController();
  const answer = await aws.fetch(`http://169.254.169.254${path}`, {
    method,
    headers,
    body: null,
    redirect: 'manual',
    signal,
  });
  return [answer.status, await answer.text()];
}

test('an instance reads of itself, with a token', async () => {
  const clock = new FakeClock();
  const aws = createFakeAws({ clock });
  const { instances, vpcId } = aws.seedCluster({ nodes: 2 });
  assert.equal((await ask(aws, 'GET', '/latest/meta-data/instance-id'))[0], 401);
  assert.equal((await ask(aws, 'PUT', '/latest/api/token'))[0], 400);
  const [, token] = await ask(aws, 'PUT', '/latest/api/token', { 'X-aws-ec2-metadata-token-ttl-seconds': '60' });
  const read = (path: string) => ask(aws, 'GET', `/latest/${path}`, { 'X-aws-ec2-metadata-token': token });
  assert.deepEqual(await read('meta-data/instance-id'), [200, instances[0]?.id]);
  const [, mac] = await read('meta-data/mac');
  assert.deepEqual(await read(`meta-data/network/interfaces/macs/${mac}/vpc-id`), [200, vpcId]);
  assert.deepEqual(await read('meta-data/network/interfaces/macs/'), [200, `${mac}/`]);
  assert.deepEqual(await read('meta-data/placement/region'), [200, 'eu-central-1']);
  assert.equal((await read('meta-data/public-ipv4'))[0], 404);
  const [, role] = await read('meta-data/iam/security-credentials/');
  assert.match((await read(`meta-data/iam/security-credentials/${role}`))[1], /"Code":"Success"/u);
  aws.metadata.instanceId = instances[1]?.id;
  assert.deepEqual(await read('meta-data/instance-id'), [200, instances[1]?.id]);
  await clock.advance(60_000);
  assert.equal((await read('meta-data/instance-id'))[0], 401);
  aws.metadata.isServed = false;
  await assert.rejects(read('meta-data/instance-id'), { message: 'fetch failed' });
});
