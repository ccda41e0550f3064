/** Rules for load balancers alone that this process has made or removed, which lists of EC2 may not show yet. */
import type { Clock } from '@outrigger/cloud-provider';
import { isNodeRule } from './node-rules.ts';
import type { DescribedRule, RuleText } from './rules.ts';

/** As long as lists may be behind. */
const LAG_MS = 60_000;

interface Change {
  readonly at: number;
  /** `undefined`: it was removed. */
  readonly made: DescribedRule | undefined;
}

export class RecentRules {
  readonly #clock: Clock;
  /** By group. */
  readonly #changes = new Map<string, Map<RuleText, Change>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  made(groupId: string, rules: readonly DescribedRule[]): void {
    const at = this.#clock.monotonic();
    for (const one of rules) this.#in(groupId).set(one.rule, { at, made: one });
  }

  removed(groupId: string, rules: readonly RuleText[]): void {
    const at = this.#clock.monotonic();
    for (const rule of rules) this.#in(groupId).set(rule, { at, made: undefined });
  }

  groupIds(): readonly string[] {
    const latest = this.#clock.monotonic() - LAG_MS;
    for (const [id, changes] of this.#changes) {
      for (const [rule, { at }] of changes) if (at <= latest) changes.delete(rule);
      if (changes.size === 0) this.#changes.delete(id);
    }
    return [...this.#changes.keys()];
  }

  /** Over what a list has shown. What it describes as somebody else's is theirs, whatever was done before. */
  over(groupId: string, listed: readonly DescribedRule[]): readonly DescribedRule[] {
    const latest = this.#clock.monotonic() - LAG_MS;
    const changes = new Map([...(this.#changes.get(groupId) ?? [])].filter(([, { at }]) => at > latest));
    const kept = listed.filter((one) => !changes.has(one.rule) || !isNodeRule(one));
    const young = [...changes.values()].flatMap(({ made }) => made ?? []);
    return [...kept, ...young.filter(({ rule }) => kept.every((one) => one.rule !== rule))];
  }

  #in(groupId: string): Map<RuleText, Change> {
    const known = this.#changes.get(groupId) ?? new Map<RuleText, Change>();
    this.#changes.set(groupId, known);
    return known;
  }
}
