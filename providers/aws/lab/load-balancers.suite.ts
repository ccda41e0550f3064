/** Load balancers of both APIs, on any cloud that speaks as AWS does; read by the official SDK. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  DescribeLoadBalancersCommand as DescribeClassicCommand,
  ElasticLoadBalancingClient,
} from '@aws-sdk/client-elastic-load-balancing';
import {
  DescribeListenersCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DescribeTargetGroupsCommand,
  DescribeTargetHealthCommand,
  ElasticLoadBalancingV2Client,
} from '@aws-sdk/client-elastic-load-balancing-v2';
import { DescribeSecurityGroupsCommand } from '@aws-sdk/client-ec2';
import type { DesiredLoadBalancer, LoadBalancers, LoadBalancerService } from '@outrigger/cloud-provider';
import { createAwsLoadBalancers } from '../src/load-balancer/create-load-balancers.ts';
import { awsSetupOf, nodeOf, scenarioOf, type Scenario, type StartCloud } from './scenario-cloud.ts';
import { LAB_CLUSTER, type SeededInstance } from './seed-account.ts';

const UID = '0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0';
const PREFIX = 'service.beta.kubernetes.io/aws-load-balancer-';

function serviceOf(annotations: Readonly<Record<string, string>>, ports: readonly number[]): LoadBalancerService {
  return {
    uid: UID,
    namespace: 'shop',
    name: 'web',
    labels: {},
    annotations: Object.fromEntries(Object.entries(annotations).map(([name, value]) => [PREFIX + name, value])),
    ports: ports.map((port) => ({ name: `p${port}`, port, protocol: 'TCP', nodePort: 30_000 + port })),
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: ['203.0.113.0/24'],
    ingress: [],
  };
}

function desiredOf(
  service: LoadBalancerService,
  instances: readonly SeededInstance[],
  wanted = true,
): DesiredLoadBalancer {
  const backEnds = instances.map((one) => ({
    node: nodeOf(one),
    addresses: [{ type: 'InternalIP' as const, address: one.address }],
  }));
  return { service, wanted, owner: { clusterId: 'uid-of-kube-system', uid: UID }, backEnds };
}

/** The groups of others that the nodes' own lets in. */
async function letIn({ cloud, sdk }: Scenario): Promise<readonly string[]> {
  const own = cloud.account.securityGroupId;
  const { SecurityGroups: [group] = [] } = await sdk.send(new DescribeSecurityGroupsCommand({ GroupIds: [own] }));
  const pairs = (group?.IpPermissions ?? []).flatMap((one) => one.UserIdGroupPairs ?? []);
  return pairs.flatMap(({ GroupId = '' }) => (GroupId === own ? [] : [GroupId]));
}

/** As the host does it, until nothing is left to do. */
async function bring(
  balancers: LoadBalancers,
  desired: DesiredLoadBalancer,
  scenario: Scenario,
): Promise<string | undefined> {
  for (let round = 0; round < 20; round++) {
    const [look] = await balancers.observe([desired.service], scenario.call());
    if (look?.kind !== 'parts') throw look?.error ?? new Error('no answer');
    const { actions, complete, ingress, refused } = balancers.plan(desired, look.parts);
    if (refused) throw refused;
    if (actions.length === 0 && complete) return ingress[0]?.hostname;
    for (const action of actions) {
      const result = await balancers.apply(action, desired, scenario.call());
      assert.notEqual(result.kind, 'failed');
    }
  }
  throw new Error('it comes to no end');
}

export interface LoadBalancerScenarioOptions {
  readonly start: StartCloud;
  /** A rule that has a description is revoked by what it lets in alone. */
  readonly revokes: boolean;
}

export function loadBalancerScenarios(name: string, { revokes, start }: LoadBalancerScenarioOptions): void {
  test(`${name}: a Network Load Balancer is what the SDK reads, is changed, becomes a Classic one, and goes`, async (t) => {
    const opened = await scenarioOf(start, t);
    if (!opened) return;
    const { cloud, sdk } = opened;
    const { credentials, endpoint, region, requestHandler } = sdk.config;
    const options = { credentials, region, requestHandler, maxAttempts: 1, ...(endpoint && { endpoint }) };
    const v2 = new ElasticLoadBalancingV2Client(options);
    const v1 = new ElasticLoadBalancingClient(options);
    const balancers = createAwsLoadBalancers(awsSetupOf(opened));
    const { instances } = cloud.account;

    const service = serviceOf({ type: 'nlb', 'additional-resource-tags': 'team=shop' }, [80, 443]);
    const hostname = await bring(balancers, desiredOf(service, instances), opened);
    const { LoadBalancers: [made, ...others] = [] } = await v2.send(new DescribeLoadBalancersCommand({}));
    assert.deepEqual(
      [made?.Type, made?.Scheme, made?.DNSName, others.length],
      ['network', 'internet-facing', hostname, 0],
    );
    const { SecurityGroups: ofBalancer = [], LoadBalancerArn } = made ?? assert.fail();
    assert.equal(ofBalancer.length, 2);
    const [shared, ...more] = await letIn(opened);
    assert.ok(shared && ofBalancer.includes(shared), 'nodes let one of its groups in');
    assert.deepEqual(more, [], 'by one rule, however many ports there are');
    const { Listeners: listeners = [] } = await v2.send(new DescribeListenersCommand({ LoadBalancerArn }));
    assert.deepEqual(
      listeners.map(({ Port, Protocol }) => [Port, Protocol]).toSorted(([a], [b]) => Number(a) - Number(b)),
      [
        [80, 'TCP'],
        [443, 'TCP'],
      ],
    );
    const { TargetGroups: groups = [] } = await v2.send(new DescribeTargetGroupsCommand({ LoadBalancerArn }));
    assert.deepEqual(new Set(groups.map(({ Port }) => Port)), new Set([30_080, 30_443]));
    for (const { TargetGroupArn } of groups) {
      const { TargetHealthDescriptions: all = [] } = await v2.send(new DescribeTargetHealthCommand({ TargetGroupArn }));
      assert.deepEqual(new Set(all.map(({ Target }) => Target?.Id)), new Set(instances.map(({ id }) => id)));
    }
    const ResourceArns = [LoadBalancerArn ?? ''];
    const { TagDescriptions: [described] = [] } = await v2.send(new DescribeTagsCommand({ ResourceArns }));
    const tags = Object.fromEntries((described?.Tags ?? []).map(({ Key, Value }) => [Key, Value]));
    assert.deepEqual(
      [
        tags['team'],
        tags['kubernetes.io/service-name'],
        tags[`kubernetes.io/cluster/${LAB_CLUSTER}`],
        tags['outrigger.dev/owner'],
      ],
      ['shop', 'shop/web', 'owned', UID],
    );

    const changed = serviceOf({ type: 'nlb', 'cross-zone-load-balancing-enabled': 'true' }, [80]);
    await bring(balancers, desiredOf(changed, instances.slice(1)), opened);
    const { Attributes: attributes = [] } = await v2.send(
      new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn }),
    );
    assert.equal(attributes.find(({ Key }) => Key === 'load_balancing.cross_zone.enabled')?.Value, 'true');
    const { TargetGroups: left = [] } = await v2.send(new DescribeTargetGroupsCommand({}));
    assert.deepEqual(
      left.map(({ Port }) => Port),
      [30_080],
    );

    const classic = desiredOf(serviceOf({}, [80]), instances);
    await bring(balancers, classic, opened);
    const { LoadBalancers: none } = await v2.send(new DescribeLoadBalancersCommand({}));
    const { LoadBalancerDescriptions: [old] = [] } = await v1.send(new DescribeClassicCommand({}));
    assert.deepEqual([none?.length, old?.Instances?.length], [0, instances.length]);
    const { SecurityGroups: ofClassic = [] } = old ?? assert.fail();
    assert.deepEqual(await letIn(opened), revokes ? ofClassic : [shared, ...ofClassic]);

    await bring(balancers, { ...classic, wanted: false }, opened);
    assert.deepEqual((await v1.send(new DescribeClassicCommand({}))).LoadBalancerDescriptions, []);
    assert.deepEqual((await v2.send(new DescribeTargetGroupsCommand({}))).TargetGroups, []);
    if (revokes) assert.deepEqual(await letIn(opened), []);
    v1.destroy();
    v2.destroy();
  });
}
