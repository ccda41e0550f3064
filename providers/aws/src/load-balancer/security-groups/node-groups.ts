/** Which security group of a node lets its load balancers in. */
import { CloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { GroupIdentifier, Instance } from '../../client/generated/ec2.ts';
import { instancesByIds } from '../../instances/described-instances.ts';

export interface NodeGroupsOptions {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** Of the cloud config: of several, the one that counts. */
  readonly named: () => readonly string[];
}

/** The groups of an instance seldom change. */
const BELIEVED_MS = 600_000;
/** One that is not found may be too young to be known everywhere. */
const YOUNG_MS = 30_000;

interface Known {
  readonly groups: readonly string[];
  readonly at: number;
}

export class NodeGroups {
  readonly #options: NodeGroupsOptions;
  readonly #known = new Map<string, Known>();
  #learning: Promise<void> = Promise.resolve();

  constructor(options: NodeGroupsOptions) {
    this.#options = options;
  }

  /**
   * Reads the groups of instances of which they are not known: one request for 500. Instances that there are not have none. One after the
   * other: what is read for one Service is known to those that have waited.
   */
  async learn(instanceIds: readonly string[], call: CallContext): Promise<void> {
    if (this.#unknown(instanceIds).length === 0) return;
    const learnt = this.#learning.then(() => this.#read(this.#unknown(instanceIds), call));
    this.#learning = learnt.catch(() => undefined);
    await learnt;
  }

  #unknown(instanceIds: readonly string[]): readonly string[] {
    const now = this.#options.clock.monotonic();
    for (const [id, { at }] of this.#known) if (now - at >= BELIEVED_MS) this.#known.delete(id);
    return [...new Set(instanceIds)].filter((id) => !this.#known.has(id));
  }

  async #read(unknown: readonly string[], call: CallContext): Promise<void> {
    const now = this.#options.clock.monotonic();
    const found = await instancesByIds(this.#options.client.ec2, unknown, call);
    for (const one of found.values()) if (one instanceof Error) throw one;
    for (const [id, one] of found) {
      const isThere = typeof one === 'object';
      const groups = isThere ? idsOf((one as Instance).SecurityGroups) : [];
      this.#known.set(id, { groups, at: isThere ? now : now - BELIEVED_MS + YOUNG_MS });
    }
  }

  /**
   * The group of a node: the one of the cloud config, or the only one with the cluster's tag, or its only one. `undefined`: its groups
   * are not known, or it has none. Throws `invalid` where several could be meant.
   */
  groupOf(instanceId: string, tagged: ReadonlySet<string>): string | undefined {
    const { groups } = this.#known.get(instanceId) ?? { groups: [] };
    const named = this.#options.named();
    for (const narrowed of [groups.filter((id) => named.includes(id)), groups.filter((id) => tagged.has(id)), groups]) {
      const [only, second] = narrowed;
      if (only !== undefined && second === undefined) return only;
      if (second !== undefined) throw severalGroups(instanceId, narrowed);
    }
    return undefined;
  }
}

const idsOf = (groups: readonly GroupIdentifier[] = []): readonly string[] =>
  groups.map(({ GroupId }) => GroupId).filter((id) => id !== undefined);

function severalGroups(instanceId: string, groups: readonly string[]): CloudError {
  const message = `instance ${instanceId} has ${groups.length} security groups of which any may be its node's (${groups.join(', ')}): give the cluster's tag to one alone, or name it with NodeSecurityGroups in the cloud config`;
  return new CloudError('invalid', message);
}
