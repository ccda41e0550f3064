import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudProvider, ConfigText, NodeRef } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider } from '@outrigger/cloud-runtime';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws } from '../fake/fake-aws.ts';
import { createAwsProvider } from './aws-provider.ts';

const ENV = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'the-secret-key', AWS_REGION: 'eu-central-1' };

class Rig implements AsyncDisposable {
  readonly clock = new FakeClock();
  readonly signal = new AbortController().signal;
  readonly logged: string[] = [];
  /** Where requests go from now on. */
  aws: FakeAws = createFakeAws({ clock: this.clock });
  readonly #cluster = this.aws.seedCluster({ nodes: 2 });
  readonly env: Record<string, string> = { ...ENV };
  readonly provider: CloudProvider = createAwsProvider({
    env: this.env,
    fetch: (url, options) => this.aws.fetch(url, options),
  });
  #opened: OpenedProvider | undefined;

  config(more = ''): ConfigText {
    const { clusterId, vpcId } = this.#cluster;
    return { fileName: 'aws.conf', text: `[Global]\nKubernetesClusterID = ${clusterId}\nVPC = ${vpcId}\n${more}` };
  }

  async open(config: ConfigText | undefined = this.config()): Promise<OpenedProvider> {
    const tell = (message: string, fields?: unknown): void =>
      void this.logged.push(
        `${message} ${JSON.stringify(fields, (_, one: unknown) => (one instanceof Error ? one.message : one)) ?? ''}`,
      );
    this.#opened = await openProvider(this.provider, {
      cluster: { id: 'c', name: 'c' },
      clock: this.clock,
      logger: { ...silentLogger, error: tell, warn: tell },
      random: () => 0.5,
      budget: { maxAttempts: 1 },
      signal: this.signal,
      ...(config && { config }),
    });
    await this.clock.settle();
    return this.#opened;
  }

  reconfigure(config: ConfigText): Promise<void> {
    assert.ok(this.#opened);
    const call = this.#opened.callContext({ signal: this.signal, priority: 'normal' });
    return this.provider.reconfigure?.(config, call) ?? Promise.resolve();
  }

  /** What a look-up says of the first node, by its ID. */
  async kind(): Promise<string> {
    const { id = '' } = this.#cluster.instances[0] ?? {};
    const node: NodeRef = {
      name: 'n',
      uid: 'u',
      providerID: `aws:///eu-central-1a/${id}`,
      labels: {},
      annotations: {},
    };
    const answer = await this.#opened?.lookups?.lookUp(node, { need: 'state', signal: this.signal });
    return answer?.result.kind ?? 'none';
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened?.[Symbol.asyncDispose]();
  }
}

test('it opens without asking AWS, and finds out meanwhile whether AWS takes its credentials', async () => {
  await using rig = new Rig();
  const { capabilities } = await rig.open();
  assert.ok(capabilities.instances);
  assert.equal(await rig.kind(), 'found');
  assert.deepEqual(rig.logged, []);
  assert.equal(rig.aws.calls.counts()['sts:GetCallerIdentity'], 1);
});

test('it opens while AWS is down', async () => {
  await using rig = new Rig();
  rig.aws.faults.set({ service: 'ec2', status: 503 }, { service: 'sts', status: 503 });
  await rig.open();
  assert.equal(await rig.kind(), 'failed');
  rig.aws.faults.set();
  await rig.clock.advance(60_000);
  assert.equal(await rig.kind(), 'found');
});

test('a wrong config is told before anything is asked, with the key that was misspelt', async () => {
  const { provider } = new Rig();
  const text = '[Global]\nZone = nowhere\nKubernetesClusterIDs = c\n';
  await assert.rejects(async () => provider.checkConfig?.({ fileName: 'aws.conf', text }), {
    code: 'configuration',
    message: /^aws\.conf: Zone is nowhere.*KubernetesClusterIDs: there is no such key/u,
  });
  await provider.checkConfig?.(undefined);
});

test('credentials that are refused at the start are logged, and nothing is secret in it', async () => {
  await using rig = new Rig();
  rig.aws.faults.set({ service: 'sts', status: 403, code: 'InvalidClientTokenId' });
  await rig.open();
  await rig.clock.advance(1_000);
  assert.match(rig.logged.join('\n'), /AWS cannot be used as the cloud config says .*credentials/u);
  assert.doesNotMatch(rig.logged.join('\n'), /the-secret-key/u);
});

test('a changed config is taken as a whole', async () => {
  await using rig = new Rig();
  const { capabilities } = await rig.open();
  await rig.reconfigure(rig.config('NodeIPFamilies = ipv6\n'));
  const answers = await capabilities.instances?.lookUp([], 'state', {} as never);
  assert.deepEqual(answers, []);
  assert.equal(await rig.kind(), 'found');
});

test('a changed config that is refused leaves the old one in use', async () => {
  await using rig = new Rig();
  await rig.open();
  assert.equal(await rig.kind(), 'found');
  await assert.rejects(rig.reconfigure({ fileName: 'aws.conf', text: '[Global\n' }), { code: 'configuration' });
  rig.aws.faults.set({ service: 'sts', status: 403, code: 'InvalidClientTokenId' });
  await assert.rejects(rig.reconfigure(rig.config()), { code: 'unauthenticated' });
  rig.aws.faults.set();
  const own = rig.aws;
  rig.aws = createFakeAws({ clock: rig.clock, accountId: '999999999999' });
  await assert.rejects(rig.reconfigure(rig.config()), {
    code: 'configuration',
    message: /leads to 999999999999\/eu-central-1, and this cluster is in 123456789012\/eu-central-1/u,
  });
  rig.aws = own;
  await assert.rejects(rig.reconfigure(rig.config('Region = us-east-1\n')), { code: /./u });
  assert.equal(await rig.kind(), 'found');
});

test('a changed config with which AWS cannot be reached is taken all the same', async () => {
  await using rig = new Rig();
  await rig.open();
  rig.aws.faults.set({ service: 'sts', status: 503 });
  await rig.reconfigure(rig.config());
  assert.match(rig.logged.join('\n'), /AWS could not be asked with it/u);
  rig.aws.faults.set();
  assert.equal(await rig.kind(), 'found');
});
