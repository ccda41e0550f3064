/** The tags of the cluster and its network: by the config, else by the instance that the program runs on. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type { AwsClient } from '../client/aws-client.ts';
import type { AwsConfig } from '../config/aws-config.ts';
import { clusterTagsOf, type ClusterTags } from './cluster-tags.ts';

export interface ClusterFacts {
  readonly tags: ClusterTags;
  readonly vpcId: string;
}

/** The metadata service of the own instance. */
interface InstanceMetadata {
  /** What it says at a path below `latest/`; `undefined`: there is no such thing. Rejects where no such service answers. */
  metadata(call: CallContext, path: string): Promise<string | undefined>;
}

export interface OwnClusterOptions {
  readonly client: Pick<AwsClient, 'ec2'> & InstanceMetadata;
  readonly config: () => AwsConfig;
}

const REMEDY = 'set KubernetesClusterID and VPC in [Global] of the cloud config';

export class OwnCluster {
  readonly #options: OwnClusterOptions;
  #found: ClusterFacts | undefined;
  #finding: Promise<ClusterFacts> | undefined;
  /** Grows with each change of the config. */
  #edition = 0;

  constructor(options: OwnClusterOptions) {
    this.#options = options;
  }

  /** As far as it is known now: for plans, which may not ask. `learn` makes it known. */
  get known(): ClusterFacts | undefined {
    return this.#byConfig() ?? this.#found;
  }

  /**
   * Asks where the config does not say, once; again after it failed. Rejects with `configuration` where a person has to say what
   * cannot be found out.
   */
  async learn(call: CallContext): Promise<ClusterFacts> {
    for (;;) {
      const { known } = this;
      if (known) return known;
      const edition = this.#edition;
      const finding = (this.#finding ??= this.#find(call));
      try {
        const found = await finding;
        if (edition === this.#edition) this.#found = found;
      } finally {
        if (finding === this.#finding) this.#finding = undefined;
      }
    }
  }

  /** Another config is in use: what it does not say is asked for anew. */
  reconfigured(): void {
    this.#edition++;
    this.#found = undefined;
    this.#finding = undefined;
  }

  #byConfig(): ClusterFacts | undefined {
    const { clusterId, usesLegacyTags, vpcId } = this.#options.config();
    if (clusterId === undefined || vpcId === undefined) return undefined;
    return { tags: { id: clusterId, isLegacy: usesLegacyTags }, vpcId };
  }

  async #find(call: CallContext): Promise<ClusterFacts> {
    const { client, config } = this.#options;
    const id = await this.#ownInstance(call);
    const { Reservations = [] } = await client.ec2(call, 'DescribeInstances', { InstanceIds: [id] });
    const [instance] = Reservations.flatMap(({ Instances = [] }) => Instances);
    const { clusterId, usesLegacyTags, vpcId = instance?.VpcId } = config();
    if (vpcId === undefined)
      throw new CloudError(
        'configuration',
        `EC2 does not say in which VPC the instance ${id} is, on which the program runs: ${REMEDY}`,
      );
    const tags =
      clusterId === undefined ? clusterTagsOf(instance?.Tags, id) : { id: clusterId, isLegacy: usesLegacyTags };
    return { tags, vpcId };
  }
  async #ownInstance(call: CallContext): Promise<string> {
    let cause: unknown;
    try {
      const id = await this.#options.client.metadata(call, 'meta-data/instance-id');
      if (id !== undefined && id !== '') return id;
    } catch (error) {
      call.signal.throwIfAborted();
      cause = error;
    }
    throw new CloudError(
      'configuration',
      `it is not known which cluster this is, as no metadata service of EC2 answers here (a pod without the host's network needs a hop limit of 2): ${REMEDY}`,
      { cause },
    );
  }
}
