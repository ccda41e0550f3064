/** What goes wrong in a round, and when: a pure function of the random source. */
import type { FaultRuleOptions } from '@outrigger/testing';

/** What happens to the replica that leads at that time. */
export type LeaderStrike =
  | { readonly kind: 'kill' }
  /** Longer than the lease, so that another leads when it wakes. */
  | { readonly kind: 'freeze'; readonly ms: number };

/** What happens between the replicas, the API server and the cloud. */
export type Strike =
  | { readonly kind: 'restart API server' }
  | { readonly kind: 'cut watches'; readonly how: 'end' | 'reset' }
  | { readonly kind: 'reset connections' }
  /** With each replica, in force for so long after it has struck first; without `ms` until it has struck as often as it may. */
  | { readonly kind: 'rule'; readonly name: string; readonly ms?: number; readonly rule: FaultRuleOptions }
  | {
      readonly kind: 'cloud';
      readonly effect: 'status' | 'empty' | 'lost';
      readonly status: number;
      readonly times: number;
    };

export interface ChaosPlan {
  /** Each strikes `afterMs` after somebody else has begun to lead: amid the nodes that have gathered until then. */
  readonly leader: readonly { readonly afterMs: number; readonly strike: LeaderStrike }[];
  /** Milliseconds from the first registration. */
  readonly others: readonly { readonly atMs: number; readonly strike: Strike }[];
}

/** `periodMs`: how long nodes register; all strikes fall into it. */
export function planChaos(random: () => number, periodMs: number, leaseMs: number): ChaosPlan {
  const between = (from: number, to: number): number => from + random() * (to - from);
  const count = (from: number, to: number): number => Math.floor(between(from, to + 1));
  const anyTime = (): number => between(0.05, 1) * periodMs;

  const leaderStrikes: LeaderStrike[] = [
    { kind: 'kill' },
    { kind: 'kill' },
    { kind: 'freeze', ms: leaseMs * between(1.3, 2) },
  ];
  const others: Strike[] = [
    { kind: 'restart API server' },
    ...Array.from({ length: count(2, 4) }, (): Strike => ({
      kind: 'cut watches',
      how: random() < 0.5 ? 'end' : 'reset',
    })),
    { kind: 'reset connections' },
    { kind: 'rule', name: 'answer lost', rule: ruleOfWrites(count(3, 8), { type: 'lose-answer' }) },
    { kind: 'rule', name: '409', rule: ruleOfWrites(count(5, 40), { type: 'status', code: 409 }) },
    { kind: 'rule', name: '500', rule: ruleOfWrites(count(1, 10), { type: 'status', code: 500 }) },
    {
      kind: 'rule',
      name: '429',
      ms: between(800, 2_500),
      rule: ruleOfWrites(Infinity, { type: 'status', code: 429, retryAfterSeconds: 1 }),
    },
    {
      kind: 'rule',
      name: 'half line',
      rule: {
        match: { verb: 'watch', resource: 'nodes', times: 1 },
        fault: { type: 'half-line', afterLines: count(0, 20) },
      },
    },
    {
      kind: 'rule',
      name: 'latency',
      ms: between(500, 2_000),
      rule: ruleOfWrites(Infinity, { type: 'latency', ms: between(50, 300) }),
    },
    { kind: 'cloud', effect: 'status', status: 500, times: count(1, 3) },
    { kind: 'cloud', effect: 'status', status: 429, times: count(1, 2) },
    { kind: 'cloud', effect: 'empty', status: 200, times: count(1, 2) },
  ];
  const leader = leaderStrikes
    .map((strike) => ({ strike, order: random() }))
    .sort((a, b) => a.order - b.order)
    .map(({ strike }, index) => ({ afterMs: index === 0 ? between(500, 3_000) : between(50, 800), strike }));
  return { leader, others: others.map((strike) => ({ atMs: anyTime(), strike })).sort((a, b) => a.atMs - b.atMs) };
}

function ruleOfWrites(times: number, fault: FaultRuleOptions['fault']): FaultRuleOptions {
  return { match: { method: 'PATCH', resource: 'nodes', times }, fault };
}
