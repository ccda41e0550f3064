/** What the parts stand on: a real control plane, and for each program a new account of the fake, which listens. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { resources, systemClock, type Client } from '@outrigger/kube';
import { freePort, hollowNode, UNINITIALIZED_TAINT, type ControlPlane } from '@outrigger/testing';
import type { FakeAwsCall } from '../../providers/aws/fake/fake-aws.ts';
import { fakeLabCloud, type FakeLabCloud } from '../../providers/aws/lab/fake-cloud.suite.ts';
import { officialConfig } from '../../providers/aws/lab/official.ts';
import { LAB_CLUSTER, type SeededInstance } from '../../providers/aws/lab/seed-account.ts';
import { hasTaint, listNodes, makeReady } from '../cluster-nodes.ts';
import { inParallel, removeNodes, removeServices } from '../fleet.ts';
import type { Surroundings } from '../subjects.ts';

/** As of a region in use: what was made is shown a second later, a load balancer serves after two minutes and is gone a minute after it. */
const DELAYS = { ec2LagMs: 1_000, elbLagMs: 1_000, provisioningMs: 120_000, interfaceReleaseMs: 60_000 };
/** Raised, as by a request to AWS. With the 60 rules of a new account cloud-provider-aws has no room for 100 Services. */
const QUOTAS = { mostNetworkLoadBalancers: 300, mostRules: 1_000 };

/** `{ 'ec2:DescribeInstances': 3 }` */
export type Counts = Readonly<Record<string, number>>;

interface CallsTaken {
  readonly counts: Counts;
  /** Those of them that were refused, for whatever reason. */
  readonly refused: Counts;
  readonly total: number;
  /** How many found a bucket of AWS empty. */
  readonly throttled: number;
}

export interface Account extends AsyncDisposable {
  readonly cloud: FakeLabCloud;
  surroundings(): Promise<Surroundings>;
  /** Since it was asked last. */
  readonly takeCalls: () => CallsTaken;
}

export class AwsRig {
  readonly client: Client;
  readonly controlPlane: ControlPlane;

  constructor(controlPlane: ControlPlane, client: Client) {
    this.controlPlane = controlPlane;
    this.client = client;
  }

  /** Of Services and nodes. */
  async empty(): Promise<void> {
    await removeServices(this.client);
    await removeNodes(this.client);
  }

  /** A new account and an empty cluster: with so many instances, whose nodes are registered and Ready. */
  async account(nodes: number): Promise<Account> {
    await this.empty();
    const cloud = fakeLabCloud(nodes, systemClock);
    Object.assign(cloud.aws.knobs, DELAYS, QUOTAS, { throttles: true });
    await this.register(cloud.account.instances);
    const server = await cloud.aws.listen();
    let throttled = 0;
    return {
      cloud,
      surroundings: async () => {
        const cloudConfig = join(this.controlPlane.directory, 'aws.conf');
        writeFileSync(cloudConfig, officialConfig(cloud.account, server.endpoint));
        const kubeconfig = this.controlPlane.kubeconfig.path;
        const port = await freePort();
        return { controlPlane: this.controlPlane, certificateAuthorityFile: '', cloudConfig, kubeconfig, port };
      },
      takeCalls: () => {
        const { buckets, calls } = cloud.aws;
        const all = calls.all();
        const taken = {
          counts: countsOf(all),
          refused: countsOf(all.filter(({ status }) => status >= 400)),
          total: all.length,
          throttled: buckets.refused - throttled,
        };
        calls.clear();
        throttled = buckets.refused;
        return taken;
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  }

  async register(instances: readonly SeededInstance[], areReady = true): Promise<void> {
    await inParallel(instances, async ({ name }) => {
      await this.client.of(resources.nodes).create(hollowNode({ name, images: 1, now: Date.now() }));
    });
    const names = instances.map(({ name }) => name);
    if (areReady) await makeReady({ client: this.client }, names);
  }

  async initialised(): Promise<number> {
    return (await listNodes(this.client)).filter((node) => !hasTaint(node, UNINITIALIZED_TAINT)).length;
  }
}

function countsOf(calls: readonly FakeAwsCall[]): Counts {
  const groups = [...Map.groupBy(calls, ({ operation }) => operation)].toSorted(([a], [b]) => a.localeCompare(b));
  return Object.fromEntries(groups.map(([operation, group]) => [operation, group.length]));
}

/** Machines that EC2 does not show before its lag is over, though their kubelets may be there. */
export function launch({ account, aws }: FakeLabCloud, count: number): readonly SeededInstance[] {
  const [subnetId = ''] = account.subnetIds;
  const zone = aws.account.subnets.get(subnetId)?.zone ?? '';
  const groupIds = [account.securityGroupId];
  const tags = { [`kubernetes.io/cluster/${LAB_CLUSTER}`]: 'owned' };
  return Array.from({ length: count }, () => {
    const { id, privateDnsName: name } = aws.addInstance({ subnetId, groupIds, tags, isLaunched: true });
    return { id, name, zone, address: /^ip-([\d-]+)/u.exec(name)?.[1]?.replaceAll('-', '.') ?? '' };
  });
}
