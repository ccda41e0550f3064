/** Instances over the fake AWS, for tests. */
import assert from 'node:assert/strict';
import type {
  CallContext,
  ClusterPlace,
  InstanceAnswer,
  InstanceNeed,
  Instances,
  NodeRef,
} from '@outrigger/cloud-provider';
import { silentLogger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createFakeAws, type FakeAws, type FakeAwsOptions } from '../../fake/fake-aws.ts';
import type { ClusterSeed, SeededCluster } from '../../fake/aws-world.ts';
import { createAwsClient, type AwsClient } from '../client/aws-client.ts';
import { placeOf } from '../cluster/account.ts';
import type { AwsSetup } from '../cluster/aws-setup.ts';
import { OwnCluster } from '../cluster/own-cluster.ts';
import type { AwsConfig } from '../config/aws-config.ts';
import { readAwsConfig } from '../config/read-aws-config.ts';
import { AwsInstances } from './aws-instances.ts';

const CREDENTIALS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' };

export class AwsSite {
  readonly clock: FakeClock = new FakeClock();
  readonly aws: FakeAws;
  readonly cluster: SeededCluster;
  readonly aborter: AbortController = new AbortController();
  readonly call: CallContext = {
    signal: this.aborter.signal,
    priority: 'normal',
    logger: silentLogger,
    call: (_operation, send) => send(this.aborter.signal),
  };
  config: AwsConfig;
  place!: ClusterPlace;
  instances!: Instances;
  setup!: AwsSetup;

  constructor(seed: ClusterSeed = {}, options: Partial<FakeAwsOptions> = {}) {
    this.aws = createFakeAws({ clock: this.clock, ...options });
    this.cluster = this.aws.seedCluster(seed);
    const { clusterId, vpcId } = this.cluster;
    const text = `[Global]\nKubernetesClusterID = ${clusterId}\nVPC = ${vpcId}\n`;
    this.config = readAwsConfig({ text, fileName: 'aws.conf' }, assert.fail);
    this.restart();
  }

  /** A new process, which knows nothing of before. */
  restart(): void {
    const { clock } = this;
    const host = {
      cluster: { id: 'uid', name: 'kubernetes' },
      clock,
      logger: silentLogger,
      config: undefined,
      callContext: () => this.call,
      capabilitiesChanged: () => undefined,
      redact: () => undefined,
    };
    const client: AwsClient = createAwsClient({
      host,
      region: 'eu-central-1',
      credentials: CREDENTIALS,
      fetch: this.aws.fetch,
    });
    const config = (): AwsConfig => this.config;
    this.place = placeOf(client);
    this.setup = {
      name: 'aws',
      host,
      client,
      config,
      cluster: new OwnCluster({ client: { ...client, metadata: () => assert.fail('asked') }, config }),
      place: this.place,
    };
    this.instances = new AwsInstances(this.setup);
  }

  /** The node of a seeded instance, as the host asks about it; it came long ago. */
  node(number: number, overrides: Partial<NodeRef> = {}): NodeRef {
    const { id, privateDnsName: name, subnetId } = this.cluster.instances[number] ?? assert.fail(`no node ${number}`);
    const zone = this.aws.account.subnets.get(subnetId)?.zone ?? '';
    const createdAt = this.clock.now() - 3_600_000;
    return {
      name,
      uid: `uid-${number}`,
      providerID: `aws:///${zone}/${id}`,
      createdAt,
      labels: {},
      annotations: {},
      ...overrides,
    };
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed = 'state'): Promise<readonly string[]> {
    return (await this.instances.lookUp(nodes, need, this.call)).map(said);
  }

  async read(node: NodeRef): Promise<string> {
    return said(await this.instances.read(node, 'state', this.call));
  }

  /** How often EC2 was asked, by operation. */
  calls(): Readonly<Record<string, number>> {
    return this.aws.calls.counts();
  }

  [Symbol.dispose](): void {
    assert.deepEqual(this.aws.takeProblems(), []);
  }
}

function said({ result }: InstanceAnswer): string {
  switch (result.kind) {
    case 'found':
      return `${result.instance.state} ${result.instance.providerID}`;
    case 'absent':
      return `absent: ${result.proof}`;
    case 'failed':
      return `failed: ${result.error.message}`;
    default:
      return 'missing';
  }
}
