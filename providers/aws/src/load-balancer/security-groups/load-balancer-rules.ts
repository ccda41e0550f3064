/**
 * Which rules groups of nodes have for one Network Load Balancer itself, as cloud-provider-aws makes them: those of the cluster's groups, and
 * those of groups that no look shows, as they have no tag of the cluster.
 */
import { isCloudError, type CallContext, type Clock } from '@outrigger/cloud-provider';
import type { AwsClient } from '../../client/aws-client.ts';
import type { IpPermission, SecurityGroup } from '../../client/generated/ec2.ts';
import { chunks, pages } from '../../client/pages.ts';
import type { Closed } from '../left-out.ts';
import { revoke } from './change-rules.ts';
import { eachGroup } from './each-group.ts';
import type { JudgedGroups } from './node-groups.ts';
import { ownRulesIn, ruleChanges, seenNodeRules, type NodeRules, type SeenNodeRules } from './node-rules.ts';
import { RecentRules } from './recent-rules.ts';
import { describedRulesIn, type DescribedRule } from './rules.ts';

interface Nodes {
  readonly client: Pick<AwsClient, 'ec2'>;
  readonly clock: Clock;
  /** Those of nodes that the last look has shown. */
  readonly shown: () => readonly SecurityGroup[];
  readonly judge: (instanceIds: readonly string[]) => JudgedGroups;
  /** Gives back those that were not there yet. */
  readonly allow: (
    groupId: string,
    rules: readonly DescribedRule[],
    call: CallContext,
  ) => Promise<readonly DescribedRule[]>;
  /** All groups that have rules of this program. */
  readonly withOwnRules: (call: CallContext) => Promise<readonly string[]>;
}

/** What no look shows is believed for so long, as long as looks may be behind. */
const BELIEVED_MS = 60_000;
/** That a load balancer that has gone has no rules any more. */
const CLEARED_MS = 600_000;
/** Values of a filter. */
const MOST = 200;

type Permissions = ReadonlyMap<string, readonly IpPermission[]>;

export class LoadBalancerRules {
  readonly #nodes: Nodes;
  /** Rules of groups that no look shows, as they were read last. */
  #unshown: Permissions = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> = Promise.resolve();
  readonly #cleared = new Map<string, number>();
  readonly #recent: RecentRules;

  constructor(nodes: Nodes) {
    this.#nodes = nodes;
    this.#recent = new RecentRules(nodes.clock);
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
      const { add, remove } = ruleChanges(describedRulesIn(all.get(id)), loadBalancer, rules);
      await this.#allow(id, add, call);
      await this.#revoke(id, remove, call);
    });
    // Where no instance can be let in, nothing is taken from those that are.
    if (groups.size === 0 && closed) return closed;
    for (const id of others) {
      const { add, remove } = ruleChanges(describedRulesIn(all.get(id)), loadBalancer, {});
      // One that is handed on to another load balancer has to go first.
      if (groups.size === 0) await this.#revoke(id, remove, call);
      await this.#allow(id, add, call);
      if (groups.size > 0) await this.#revoke(id, remove, call);
    }
    return closed;
  }

  /** What other nodes have for it, those that join have too. `false`: they have nothing for it. */
  async spread(loadBalancer: string, instanceIds: readonly string[], call: CallContext): Promise<Closed | boolean> {
    const all = this.#permissions();
    const rules = ownRulesIn([...all.values()].flat(), loadBalancer);
    if (Object.keys(rules).length === 0) return false;
    this.#readAt = Number.NEGATIVE_INFINITY;
    const closed = await eachGroup(this.#nodes.judge(instanceIds), call, async (id) => {
      const { add } = ruleChanges(describedRulesIn(all.get(id)), loadBalancer, rules);
      await this.#allow(id, add, call);
    });
    return closed ?? true;
  }

  /**
   * `isThorough`: also in groups that no look shows, and that no target has any more. What looks have shown may be behind, so groups are
   * read again. It is over when they show nothing of it, not even what was removed just now: then there may be more that they do not show.
   */
  async clear(loadBalancer: string, isThorough: boolean, call: CallContext): Promise<void> {
    let changes = this.#toClear(this.#permissions(), loadBalancer);
    if (isThorough || changes.some(({ isOver }) => !isOver)) {
      const owned = isThorough ? await this.#withOwnRules(loadBalancer, call) : [];
      this.#readAt = Number.NEGATIVE_INFINITY;
      const groupIds = new Set([...owned, ...changes.map(({ id }) => id)]);
      changes = this.#toClear(await this.#ask([...groupIds], call), loadBalancer);
    }
    for (const { add, id, remove } of changes) {
      // One that is handed on to another load balancer has to go first.
      await this.#revoke(id, remove, call);
      await this.#allow(id, add, call);
    }
    if (changes.every(({ isOver }) => isOver)) this.#cleared.set(loadBalancer, this.#nodes.clock.monotonic());
  }

  #toClear(groups: Permissions, loadBalancer: string) {
    return [...new Set([...groups.keys(), ...this.#recent.groupIds()])].map((id) => {
      const listed = describedRulesIn(groups.get(id));
      const changes = ruleChanges(this.#recent.over(id, listed), loadBalancer, {});
      const isOver = [changes, ruleChanges(listed, loadBalancer, {})].every(({ remove }) => remove.length === 0);
      return { ...changes, id, isOver };
    });
  }

  hasCleared(loadBalancer: string): boolean {
    const now = this.#nodes.clock.monotonic();
    for (const [name, at] of this.#cleared) if (now - at >= CLEARED_MS) this.#cleared.delete(name);
    return this.#cleared.has(loadBalancer);
  }

  /** Who may not ask knows of those alone that were read before: a right that is lacking keeps no Service from going. */
  async #withOwnRules(loadBalancer: string, call: CallContext): Promise<readonly string[]> {
    try {
      return await this.#nodes.withOwnRules(call);
    } catch (error) {
      if (!isCloudError(error, 'forbidden')) throw error;
      const message = `Rules for load balancer ${loadBalancer} may stay in security groups without the cluster's tag: ec2:DescribeSecurityGroupRules is not allowed`;
      call.logger.warn(message, { error });
      return [];
    }
  }

  async #allow(id: string, rules: readonly DescribedRule[], call: CallContext): Promise<void> {
    this.#recent.made(id, await this.#nodes.allow(id, rules, call));
  }

  async #revoke(id: string, rules: readonly string[], call: CallContext): Promise<void> {
    await revoke(this.#nodes.client, id, rules, call);
    this.#recent.removed(id, rules);
  }

  /** By ID, of groups of nodes. */
  #permissions(): Permissions {
    const shown = this.#nodes.shown().map(({ GroupId = '', IpPermissions = [] }) => [GroupId, IpPermissions] as const);
    return new Map([...this.#unshown, ...shown]);
  }

  /** What is read for one load balancer is known to those that have waited. */
  async #inTurn(read: () => Promise<void>): Promise<void> {
    const reading = this.#reading.then(read);
    this.#reading = reading.catch(() => undefined);
    await reading;
  }

  /** These and those that were read before, if no look shows them. What is neither there nor asked for is forgotten. */
  async #read(groupIds: readonly string[], call: CallContext): Promise<void> {
    const isShown = new Set(this.#nodes.shown().map(({ GroupId }) => GroupId));
    const at = this.#nodes.clock.monotonic();
    const isAsked = (id: string): boolean => !isShown.has(id);
    const found = await this.#ask([...new Set([...this.#unshown.keys(), ...groupIds])].filter(isAsked), call);
    this.#unshown = new Map([...groupIds.filter(isAsked).map((id) => [id, []] as const), ...found]);
    this.#readAt = at;
  }

  async #ask(groupIds: readonly string[], call: CallContext): Promise<Permissions> {
    const found: SecurityGroup[] = [];
    for (const Values of chunks(groupIds, MOST)) {
      const input = { Filters: [{ Name: 'group-id', Values }], MaxResults: 1_000 };
      found.push(...(await pages(this.#nodes.client.ec2, call, 'DescribeSecurityGroups', input)));
    }
    return new Map(found.map(({ GroupId = '', IpPermissions = [] }) => [GroupId, IpPermissions]));
  }
}
