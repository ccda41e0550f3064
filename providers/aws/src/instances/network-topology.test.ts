import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceHint, NodeRef } from '@outrigger/cloud-provider';
import { AwsSite } from './aws-site.suite.ts';

const LAYERS = ['nn-1', 'nn-2', 'nn-3'];
const LABELS = {
  'topology.k8s.aws/network-node-layer-1': 'nn-1',
  'topology.k8s.aws/network-node-layer-2': 'nn-2',
  'topology.k8s.aws/network-node-layer-3': 'nn-3',
};
const ZONE = { 'topology.k8s.aws/zone-id': 'euc1-az1' };

class TopologySite extends AwsSite {
  readonly hints: InstanceHint[] = [];

  /** As the host does while it leads. */
  follow(): void {
    const hints = this.instances.changes?.(this.call) ?? assert.fail('no hints');
    const follow = async (): Promise<void> => {
      for await (const hint of hints) this.hints.push(hint);
    };
    follow().catch(() => undefined);
  }

  add(type: string, networkNodes: readonly string[] = LAYERS): NodeRef {
    const subnetId = this.cluster.privateSubnets[0] ?? '';
    const { id } = this.aws.addInstance({ subnetId, groupIds: [], type, networkNodes });
    return { name: id, uid: id, providerID: `aws:///eu-central-1a/${id}`, labels: {}, annotations: {} };
  }

  async labels(...nodes: readonly NodeRef[]): Promise<readonly unknown[]> {
    const answers = await this.instances.lookUp(nodes, 'metadata', this.call);
    return answers.map(({ result }) => result.kind === 'found' && result.instance.labels);
  }

  asked(): number {
    return this.calls()['ec2:DescribeInstanceTopology'] ?? 0;
  }

  override [Symbol.dispose](): void {
    this.aborter.abort();
    super[Symbol.dispose]();
  }
}

test('labels of the network come late, in batches of 100, one request a second, and each is told', async () => {
  using site = new TopologySite({ nodes: 0, zones: 1 });
  site.follow();
  const nodes = Array.from({ length: 250 }, () => site.add('p5.48xlarge'));
  for (const labels of await site.labels(...nodes)) assert.deepEqual(labels, ZONE);
  const asked: number[] = [];
  for (let second = 0; second < 4; second++) {
    await site.clock.advance(second === 0 ? 0 : 1_000);
    asked.push(site.asked());
  }
  assert.deepEqual(asked, [1, 2, 3, 3]);
  assert.equal(site.hints.length, 250);
  assert.deepEqual(site.hints[0], { providerID: nodes[0]?.providerID });
  const [first = assert.fail(), ...others] = nodes;
  assert.deepEqual(await site.labels(first), [{ ...LABELS, ...ZONE }]);
  // With its labels, nothing is to be asked; without, what is known is given again.
  assert.deepEqual(await site.labels({ ...first, labels: LABELS }, others[0] ?? first), [ZONE, { ...LABELS, ...ZONE }]);
  await site.clock.advance(60_000);
  assert.equal(site.asked(), 3);
});

test('a type without a topology is asked for once a day; one that has it, again after minutes', async () => {
  using site = new TopologySite({ nodes: 0, zones: 1 });
  site.follow();
  const [plain, other, fast] = [site.add('m5.large', []), site.add('m5.large', []), site.add('p5.48xlarge', [])];
  await site.labels(plain);
  await site.clock.advance(1_000);
  await site.labels(plain, other, fast);
  await site.clock.advance(1_000);
  assert.equal(site.asked(), 2);
  site.aws.changeInstance(fast.name, { networkNodes: LAYERS });
  await site.clock.advance(5 * 60_000);
  await site.labels(plain, other, fast);
  await site.clock.advance(1_000);
  assert.equal(site.asked(), 3);
  assert.deepEqual(await site.labels(fast), [{ ...LABELS, ...ZONE }]);
  await site.clock.advance(24 * 3_600_000);
  await site.labels(plain);
  await site.clock.advance(1_000);
  assert.equal(site.asked(), 4);
});

test('a region that has none, and credentials that may not ask, are asked once a day', async () => {
  for (const code of ['UnsupportedOperation', 'UnauthorizedOperation']) {
    using site = new TopologySite({ nodes: 0, zones: 1 });
    site.follow();
    site.aws.faults.set({ operation: 'DescribeInstanceTopology', status: 400, code });
    const nodes = [site.add('p5.48xlarge'), site.add('m5.large')];
    for (let n = 0; n < 5; n++) {
      assert.deepEqual(await site.labels(...nodes), [ZONE, ZONE]);
      await site.clock.advance(60_000);
    }
    assert.equal(site.asked(), 1);
  }
});

test('what fails is asked again after a minute; no node waits', async () => {
  using site = new TopologySite({ nodes: 0, zones: 1 });
  site.follow();
  site.aws.faults.set({ operation: 'DescribeInstanceTopology', status: 503, code: 'RequestLimitExceeded', times: 1 });
  const node = site.add('p5.48xlarge');
  assert.deepEqual(await site.labels(node), [ZONE]);
  await site.clock.advance(59_000);
  assert.equal(site.asked(), 1);
  await site.clock.advance(1_000);
  assert.deepEqual(await site.labels(node), [{ ...LABELS, ...ZONE }]);
});

test('a batch that always fails holds up no other', async () => {
  using site = new TopologySite({ nodes: 0, zones: 1 });
  const first = Array.from({ length: 100 }, () => site.add('p5.48xlarge'));
  await site.labels(...first);
  const other = site.add('p5.48xlarge');
  await site.labels(other);
  site.aws.faults.set({ operation: 'DescribeInstanceTopology', status: 500, code: 'InternalError', times: 1 });
  site.follow();
  await site.clock.advance(60_000);
  assert.deepEqual(await site.labels(other), [{ ...LABELS, ...ZONE }]);
});

test('an instance that goes meanwhile holds up none of the others', async () => {
  using site = new TopologySite({ nodes: 0, zones: 1 });
  const [gone, stays] = [site.add('p5.48xlarge'), site.add('p5.48xlarge')];
  await site.labels(gone, stays);
  site.aws.forgetInstance(gone.name);
  site.follow();
  await site.clock.advance(2_000);
  assert.deepEqual(await site.labels(stays), [{ ...LABELS, ...ZONE }]);
});
