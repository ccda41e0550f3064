import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NodeRef } from '@outrigger/cloud-provider';
import { createAwsNodeTags } from './aws-node-tags.ts';
import { AwsSite } from '../instances/aws-site.suite.ts';

const TAGS = { team: 'infra', stage: 'test' };

/** An account whose config asks for tags. */
class Site extends AwsSite {
  constructor(nodes = 3) {
    super({ nodes, zones: 1 });
    this.config = { ...this.config, nodeTags: TAGS };
  }

  /** What each lacks by a look-up now. */
  async missing(...nodes: readonly NodeRef[]): Promise<readonly unknown[]> {
    const answers = await this.instances.lookUp(nodes, 'metadata', this.call);
    return answers.map(({ result }) => (result.kind === 'found' ? result.instance.missingTags : result.kind));
  }

  /** The code of each that failed. */
  async put(...nodes: readonly NodeRef[]): Promise<readonly string[]> {
    const results = await createAwsNodeTags(this.setup).put(nodes, this.call);
    return results.map((result) =>
      result.kind === 'failed' ? String(Reflect.get(result.error, 'code')) : result.kind,
    );
  }

  tagsOf(number: number): Readonly<Record<string, string>> {
    return this.aws.account.instances.get(this.cluster.instances[number]?.id ?? '')?.tags ?? {};
  }

  all(): readonly NodeRef[] {
    return this.cluster.instances.map((_, number) => this.node(number));
  }
}

test('what instances lack costs no request, and is put on all of them by one; other tags stay', async () => {
  using site = new Site(100);
  for (const missing of await site.missing(...site.all())) assert.deepEqual(missing, TAGS);
  const before = site.tagsOf(0);
  assert.deepEqual(await site.put(...site.all()), Array(100).fill('done'));
  assert.deepEqual(site.tagsOf(0), { ...before, ...TAGS });
  assert.deepEqual(await site.missing(...site.all()), Array(100).fill(undefined));
  assert.deepEqual(site.calls(), { 'sts:GetCallerIdentity': 1, 'ec2:DescribeInstances': 2, 'ec2:CreateTags': 1 });
});

test('a tag of another value is lacked, and is given its own', async () => {
  using site = new Site();
  const change = (tags: Readonly<Record<string, string>>): void =>
    site.aws.changeInstance(site.cluster.instances[0]?.id ?? '', { tags: { ...site.tagsOf(0), ...tags } });
  change({ team: 'another', stage: 'test' });
  assert.deepEqual(await site.missing(site.node(0)), [{ team: 'infra' }]);
  assert.deepEqual(await site.put(site.node(0)), ['done']);
  assert.deepEqual(await site.missing(site.node(0)), [undefined]);
});

test('an instance that a kubelet names, and that has not the tag of the cluster, lacks nothing', async () => {
  using site = new Site();
  const change = (number: number, tags: Readonly<Record<string, string>>): void =>
    site.aws.changeInstance(site.cluster.instances[number]?.id ?? '', { tags });
  change(0, {});
  change(1, { 'kubernetes.io/cluster/another': 'owned' });
  assert.deepEqual(await site.missing(...site.all()), [undefined, 'failed', TAGS]);
});

test('where it is not known which cluster this is, nodes are found, and lack nothing', async () => {
  using site = new Site();
  site.config = { ...site.config, clusterId: undefined };
  assert.deepEqual(await site.missing(...site.all()), [undefined, undefined, undefined]);
});

test('another config counts from the next look-up, and without one nothing is asked for', async () => {
  using site = new Site();
  site.config = { ...site.config, nodeTags: { team: 'other' } };
  assert.deepEqual(await site.missing(site.node(0)), [{ team: 'other' }]);
  site.config = { ...site.config, nodeTags: {} };
  assert.deepEqual(await site.missing(site.node(0)), [undefined]);
});

test('unknown ones fail alone, also where EC2 names one at a time', async () => {
  using site = new Site(5);
  for (const number of [1, 3]) site.aws.forgetInstance(site.cluster.instances[number]?.id ?? '');
  assert.deepEqual(await site.put(...site.all()), ['done', 'not-found', 'done', 'not-found', 'done']);
  assert.deepEqual([site.tagsOf(0).team, site.tagsOf(2).team, site.tagsOf(4).team], ['infra', 'infra', 'infra']);
  assert.equal(site.calls()['ec2:CreateTags'], 3);
});

test('an ID that is none fails alone, without a request; other forms of an ID are tagged', async () => {
  using site = new Site(3);
  const [first, second] = site.cluster.instances;
  const of = (providerID: string): NodeRef => site.node(0, { providerID });
  const forms = [
    `aws:///z/${first?.id}/`,
    `aws:///z/${first?.id}0`,
    '',
    'gce://p/z/i-0123456789abcdef0',
    second?.id ?? '',
  ];
  assert.deepEqual(await site.put(...forms.map(of), site.node(2)), [
    'done',
    'invalid',
    'invalid',
    'invalid',
    'done',
    'done',
  ]);
  assert.deepEqual(
    [0, 1, 2].map((number) => site.tagsOf(number).team),
    ['infra', 'infra', 'infra'],
  );
  assert.equal(site.calls()['ec2:CreateTags'], 1);
  assert.deepEqual(await site.put(of('aws:///z/i-1')), ['invalid']);
  assert.equal(site.calls()['ec2:CreateTags'], 1);
});

test('what EC2 refuses is told of each', async () => {
  using site = new Site();
  site.aws.faults.set({ operation: 'CreateTags', status: 403, code: 'UnauthorizedOperation' });
  assert.deepEqual(await site.put(site.node(0), site.node(1)), ['forbidden', 'forbidden']);
});
