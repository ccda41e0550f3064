import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsConfig } from '../config/aws-config.ts';
import { readAwsConfig } from '../config/read-aws-config.ts';
import { clusterTagsOf, hasAnyClusterTag, hasClusterTag, ownedTags } from './cluster-tags.ts';
import { OwnCluster, type OwnClusterOptions } from './own-cluster.ts';

const call = { signal: new AbortController().signal } as CallContext;

interface Site {
  config: AwsConfig;
  instanceId: string | undefined;
  tags: readonly { readonly Key: string; readonly Value: string }[];
  asked: string[];
  error: Error | undefined;
}

function site(): Site & { readonly own: OwnCluster } {
  const state: Site = {
    config: readAwsConfig(undefined, assert.fail),
    instanceId: 'i-1',
    tags: [{ Key: 'kubernetes.io/cluster/blue', Value: 'owned' }],
    asked: [],
    error: undefined,
  };
  const client = {
    metadata: async (_call: CallContext, path: string) => {
      state.asked.push(path);
      if (state.instanceId === undefined) throw new CloudError('unavailable', 'no metadata service');
      return Promise.resolve(state.instanceId);
    },
    ec2: async (_call: CallContext, operation: string, input: object) => {
      state.asked.push(`${operation} ${JSON.stringify(input)}`);
      if (state.error) throw state.error;
      const instance = { InstanceId: 'i-1', VpcId: 'vpc-1', SubnetId: 'subnet-1', Tags: state.tags };
      return Promise.resolve({ Reservations: [{ Instances: [instance] }] });
    },
  } as unknown as OwnClusterOptions['client'];
  return Object.assign(state, { own: new OwnCluster({ client, config: () => state.config }) });
}

test('by the own instance: asked once, however many want to know', async () => {
  const { asked, own } = site();
  assert.equal(own.known, undefined);
  const facts = { tags: { id: 'blue', isLegacy: false }, vpcId: 'vpc-1' };
  assert.deepEqual(await Promise.all([own.learn(call), own.learn(call)]), [facts, facts]);
  assert.deepEqual(own.known, facts);
  await own.learn(call);
  assert.deepEqual(asked, ['meta-data/instance-id', 'DescribeInstances {"InstanceIds":["i-1"]}']);
});

test('by the config alone nobody is asked', async () => {
  const { asked, config } = site();
  const other = new OwnCluster({
    client: {} as OwnClusterOptions['client'],
    config: () => ({ ...config, clusterId: 'green', usesLegacyTags: true, vpcId: 'vpc-2' }),
  });
  assert.deepEqual(other.known, { tags: { id: 'green', isLegacy: true }, vpcId: 'vpc-2' });
  assert.deepEqual(await other.learn(call), other.known);
  assert.deepEqual(asked, []);
});

test('what the config says takes precedence over the own instance', async () => {
  const state = site();
  state.config = { ...state.config, clusterId: 'green' };
  state.tags = [];
  assert.deepEqual(await state.own.learn(call), {
    tags: { id: 'green', isLegacy: false },
    vpcId: 'vpc-1',
  });
});

test('asked again after it failed, and after another config came', async () => {
  const state = site();
  state.error = new CloudError('unavailable', 'down');
  await assert.rejects(state.own.learn(call), { code: 'unavailable' });
  state.error = undefined;
  assert.equal((await state.own.learn(call)).tags.id, 'blue');
  state.own.reconfigured();
  assert.equal(state.own.known, undefined);
  state.tags = [{ Key: 'kubernetes.io/cluster/red', Value: 'owned' }];
  assert.equal((await state.own.learn(call)).tags.id, 'red');
});

test('where nothing says it, a person is told what to set', async () => {
  const state = site();
  state.instanceId = undefined;
  await assert.rejects(state.own.learn(call), {
    code: 'configuration',
    message: /no metadata service .* set KubernetesClusterID and VPC in \[Global\]/u,
  });
});

test('the cluster by tags', () => {
  const tag = (Key: string, Value = 'owned'): { readonly Key: string; readonly Value: string } => ({ Key, Value });
  assert.deepEqual(clusterTagsOf([tag('a'), tag('KubernetesCluster', 'c')], 'i-1'), { id: 'c', isLegacy: true });
  const both = [tag('kubernetes.io/cluster/c', 'shared'), tag('KubernetesCluster', 'c')];
  assert.deepEqual(clusterTagsOf(both, 'i-1'), { id: 'c', isLegacy: true });
  assert.throws(() => clusterTagsOf([], 'i-1'), {
    code: 'configuration',
    message: /i-1.* has no tag kubernetes\.io\/cluster\/<name>/u,
  });
  const two = [tag('kubernetes.io/cluster/b'), tag('kubernetes.io/cluster/a')];
  assert.throws(() => clusterTagsOf(two, 'i-1'), { code: 'configuration', message: /several clusters: a, b/u });
  const cluster = { id: 'c', isLegacy: false };
  assert.ok(hasClusterTag(both, cluster) && hasClusterTag([tag('KubernetesCluster', 'c')], cluster));
  assert.ok(!hasClusterTag([tag('kubernetes.io/cluster/cc')], cluster) && !hasClusterTag(undefined, cluster));
  assert.ok(
    hasAnyClusterTag(two) && !hasAnyClusterTag([tag('KubernetesCluster', 'c')]) && !hasAnyClusterTag(undefined),
  );
  assert.deepEqual(ownedTags(cluster), { 'kubernetes.io/cluster/c': 'owned' });
  assert.deepEqual(ownedTags({ id: 'c', isLegacy: true }), {
    'kubernetes.io/cluster/c': 'owned',
    KubernetesCluster: 'c',
  });
});
