/** The fake of AWS' models, for scenarios: in this process. */
import { EC2Client } from '@aws-sdk/client-ec2';
import { ElasticLoadBalancingClient } from '@aws-sdk/client-elastic-load-balancing';
import { ElasticLoadBalancingV2Client } from '@aws-sdk/client-elastic-load-balancing-v2';
import type { Clock } from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws } from '../fake/fake-aws.ts';
import { sdkOptions } from '../fake/sdk-options.suite.ts';
import type { AwsReaders } from './end-state.ts';
import type { LabCloud } from './scenario-cloud.ts';
import { LAB_CLUSTER, LAB_REGION, type SeededInstance } from './seed-account.ts';

export interface FakeLabCloud extends LabCloud {
  readonly aws: FakeAws;
}

/** `clock`: one that goes where programs of others ask it. Default: one that stands still. */
export function fakeLabCloud(nodes: number, clock: Clock = new FakeClock()): FakeLabCloud {
  const aws = createFakeAws({ clock, region: LAB_REGION });
  const cluster = aws.seedCluster({ clusterId: LAB_CLUSTER, nodes, hasPublicNodes: true });
  const tags = { [`kubernetes.io/cluster/${LAB_CLUSTER}`]: 'owned' };
  const [subnetId = ''] = cluster.publicSubnets;
  const add = (interfaces: number): SeededInstance => {
    const made = aws.addInstance({
      subnetId,
      groupIds: [cluster.nodeGroupId],
      tags,
      interfaces: Array.from({ length: interfaces }, () => ({})),
    });
    return seededOf(aws, made.id);
  };
  return {
    aws,
    fetch: aws.fetch,
    sdk: new EC2Client(sdkOptions(aws)),
    account: {
      vpcId: cluster.vpcId,
      subnetIds: cluster.publicSubnets,
      routeTableId: cluster.routeTableId,
      securityGroupId: cluster.nodeGroupId,
      instances: cluster.instances.map(({ id }) => seededOf(aws, id)),
    },
    addInstances: async (count) => Array.from({ length: count }, () => add(1)),
    addWideInstance: async () => add(2),
    addVolume: async (zone) => aws.addVolume({ zone }),
    terminate: async (id) => aws.changeInstance(id, { state: 'terminated' }),
  };
}

/** The official SDK in this process. */
export function fakeReaders(aws: FakeAws): AwsReaders {
  const options = sdkOptions(aws);
  return {
    ec2: new EC2Client(options),
    elb: new ElasticLoadBalancingClient(options),
    elbv2: new ElasticLoadBalancingV2Client(options),
  };
}

function seededOf({ account }: FakeAws, id: string): SeededInstance {
  const instance = account.instances.get(id);
  const primary = account.interfaces.all().find(({ attachment: at }) => at?.instanceId === id && at.deviceIndex === 0);
  const subnet = account.subnets.get(instance?.subnetId ?? '');
  const [address] = primary?.privateIps ?? [];
  if (!instance || !subnet || address === undefined) throw new Error(`the fake has no instance ${id}`);
  return { id, name: instance.privateDnsName, address, zone: subnet.zone };
}
