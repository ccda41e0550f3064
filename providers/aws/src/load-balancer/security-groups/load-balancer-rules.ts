/**
 * Which rules groups of nodes have for one Network Load Balancer itself, as cloud-provider-aws makes them: those of the cluster's groups, and
 * those of groups that no look shows, as they have no tag of the cluster.
 */
import type { CallContext, Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { IpPermission, SecurityGroup } from '../../client/generated/ec2.ts';
import { chunks, pages } from '../../client/pages.ts';
import type { Closed } from '../left-out.ts';
import { revoke } from './change-rules.ts';
import { eachGroup } from './each-group.ts';
import type { JudgedGroups } from './node-groups.ts';
import { ownRulesIn, ruleChanges, seenNodeRules, type NodeRules, type SeenNodeRules } from './node-rules.ts';
import type { DescribedRule } from './rules.ts';

interface Nodes {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** Those of nodes that the last look has shown. */
  readonly shown: () => readonly SecurityGroup[];
  readonly judge: (instanceIds: readonly string[]) => JudgedGroups;
  readonly allow: (groupId: string, rules: readonly DescribedRule[], call: CallContext) => Promise<void>;
  /** All groups that have rules of this program. */
  readonly withOwnRules: (call: CallContext) => Promise<readonly string[]>;
}

/** What no look shows is believed for so long, as long as looks may be behind. */
const BELIEVED_MS = 60_000;
/** That a load balancer that has gone has no rules any more. */
const CLEARED_MS = 600_000;
/** Values of a filter. */
const MOST = 200;

export class LoadBalancerRules {
  readonly #nodes: Nodes;
  /** Rules of groups that no look shows, as they were read last. */
  #unshown: ReadonlyMap<string, readonly IpPermission[]> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> = Promise.resolve();
  readonly #cleared = new Map<string, number>();

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  /** In a look: reads those of these groups that it does not show. */
  learn(groupIds: Iterable<string>, call: CallContext): Promise<void> {
    const ids = [...groupIds];
    return this.#inTurn(async () => {
      const all = this.#permissions();
      const isLate = this.#nodes.clock.monotonic() - this.#readAt >= BELIEVED_MS;
      if (isLate || !ids.every((id) => all.has(id))) await this.#read(ids, call);
    });
  }

  /** `instanceIds`: its targets. Pure. */
  of(loadBalancer: string, instanceIds: readonly string[]): SeenNodeRules {
    const all = this.#permissions();
    const ids = [...this.#nodes.judge(instanceIds).groups.keys()];
    const groups = ids.map((id) => all.get(id) ?? []);
    return seenNodeRules(groups, [...all.values()], loadBalancer);
  }

  /**
   * In the groups of these instances exactly these rules are for it, in others none. Where it is not clear which of its groups is an
   * instance's, all of them stay as they are.
   */
  async set(
    loadBalancer: string,
    rules: NodeRules,
    instanceIds: readonly string[],
    call: CallContext,
  ): Promise<Closed | undefined> {
    const { groups, ofUnclear, unclear } = this.#nodes.judge(instanceIds);
    await this.#inTurn(() => this.#read([...groups.keys()], call));
    const all = this.#permissions();
    const others = [...all.keys()].filter((id) => !groups.has(id) && !ofUnclear.has(id));
    this.#cleared.delete(loadBalancer);
    this.#readAt = Number.NEGATIVE_INFINITY;
    const closed = await eachGroup({ groups, unclear }, call, async (id) => {
      const { add, remove } = ruleChanges(all.get(id) ?? [], loadBalancer, rules);
      await this.#nodes.allow(id, add, call);
      await revoke(this.#nodes.client, id, remove, call);
    });
    // Where no instance can be let in, nothing is taken from those that are.
    if (groups.size === 0 && closed) return closed;
    for (const id of others) await this.#remove(id, loadBalancer, groups.size > 0, call);
    return closed;
  }

  /** What other nodes have for it, those that join have too. `false`: they have nothing for it. */
  async spread(loadBalancer: string, instanceIds: readonly string[], call: CallContext): Promise<Closed | boolean> {
    const all = this.#permissions();
    const rules = ownRulesIn([...all.values()].flat(), loadBalancer);
    if (Object.keys(rules).length === 0) return false;
    this.#readAt = Number.NEGATIVE_INFINITY;
    const closed = await eachGroup(this.#nodes.judge(instanceIds), call, async (id) => {
      const { add } = ruleChanges(all.get(id) ?? [], loadBalancer, rules);
      await this.#nodes.allow(id, add, call);
    });
    return closed ?? true;
  }

  /** `isThorough`: also in groups that no look shows, and that no target has any more. */
  async clear(loadBalancer: string, isThorough: boolean, call: CallContext): Promise<void> {
    const groupIds = isThorough ? await this.#nodes.withOwnRules(call) : [];
    await this.#inTurn(() => this.#read(groupIds, call));
    this.#readAt = Number.NEGATIVE_INFINITY;
    for (const id of this.#permissions().keys()) await this.#remove(id, loadBalancer, false, call);
    this.#cleared.set(loadBalancer, this.#nodes.clock.monotonic());
  }

  hasCleared(loadBalancer: string): boolean {
    const now = this.#nodes.clock.monotonic();
    for (const [name, at] of this.#cleared) if (now - at >= CLEARED_MS) this.#cleared.delete(name);
    return this.#cleared.has(loadBalancer);
  }

  async #remove(id: string, loadBalancer: string, mayAddFirst: boolean, call: CallContext): Promise<void> {
    const { allow, client } = this.#nodes;
    const { add, remove } = ruleChanges(this.#permissions().get(id) ?? [], loadBalancer, {});
    // One that is handed on to another load balancer has to go first.
    if (!mayAddFirst) await revoke(client, id, remove, call);
    await allow(id, add, call);
    if (mayAddFirst) await revoke(client, id, remove, call);
  }

  /** By ID, of groups of nodes. */
  #permissions(): ReadonlyMap<string, readonly IpPermission[]> {
    const shown = this.#nodes.shown().map(({ GroupId = '', IpPermissions = [] }) => [GroupId, IpPermissions] as const);
    return new Map([...this.#unshown, ...shown]);
  }

  /** What is read for one load balancer is known to those that have waited. */
  async #inTurn(read: () => Promise<void>): Promise<void> {
    const reading = this.#reading.then(read);
    this.#reading = reading.catch(() => undefined);
    await reading;
  }

  /** These and those that were read before, if no look shows them. */
  async #read(groupIds: readonly string[], call: CallContext): Promise<void> {
    const { client, clock, shown } = this.#nodes;
    const isShown = new Set(shown().map(({ GroupId }) => GroupId));
    const ids = [...new Set([...this.#unshown.keys(), ...groupIds])].filter((id) => !isShown.has(id));
    const at = clock.monotonic();
    const read = new Map<string, readonly IpPermission[]>(ids.map((id) => [id, []]));
    for (const Values of chunks(ids, MOST)) {
      const input = { Filters: [{ Name: 'group-id', Values }], MaxResults: 1_000 };
      const found = await pages(client.ec2, call, 'DescribeSecurityGroups', input);
      for (const { GroupId = '', IpPermissions = [] } of found) read.set(GroupId, IpPermissions);
    }
    this.#unshown = read;
    this.#readAt = at;
  }
}
