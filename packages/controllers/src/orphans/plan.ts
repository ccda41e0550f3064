/** From the cloud's lists and the live objects to what is an orphan, and what of it may be removed now. Pure: entry point `planOrphans`. */
import type { Cidr, LoadBalancerPart, Route } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { NOTHING_KNOWN, type KnownHops } from '../route/route-owners.ts';
import { orphanKinds, type Orphan, type OrphanKind } from './orphan.ts';
import { inUseBy, ownedLoadBalancers, ownedRoutes } from './owned-things.ts';

export type OrphanPolicy = 'report' | 'delete';

export interface OrphanPlanOptions {
  /** `ClusterIdentity.id`. */
  readonly clusterId: string;
  /** `--orphan-policy`. */
  readonly policy: OrphanPolicy;
  /** `--orphan-grace-period`: nothing is removed before this leader has led for so long; milliseconds. */
  readonly gracePeriodMs: number;
  /** `--orphan-max-deletions`: load balancers and routes that one pass removes at most. */
  readonly maxDeletions: number;
  /** `--orphan-max-fraction`: of the load balancers, and of the routes, that may look orphaned; above it none is removed. */
  readonly maxFraction: number;
  /** Ranges in which a route controller looks after routes. */
  readonly lookedAfter: readonly Cidr[];
}

/** As the API server itself said, asked after the cloud had answered. */
export interface LiveObjects {
  /** Of all Services and, where anything seemed to belong to none, of all nodes. */
  readonly uids: ReadonlySet<string>;
  /** Of those of Services, which the provider neither serves nor has to clean up after. */
  readonly left: ReadonlySet<string>;
  readonly nodes: readonly Node[];
}

export interface ObservedOrphans {
  /** `undefined`: not found out, or not what this cloud has. */
  readonly parts: readonly LoadBalancerPart[] | undefined;
  /** `undefined`: not found out, or not what this cloud has. */
  readonly routes: readonly Route[] | undefined;
  readonly live: LiveObjects;
  /** What is written down of routes in a cloud that keeps no owner with them. Default: nothing. */
  readonly record?: KnownHops;
  /** What looked orphaned in the pass before, with since when; monotonic. */
  readonly before: ReadonlyMap<string, number>;
  /** When the removal of what was last tried; monotonic. Default: none was. */
  readonly tried?: ReadonlyMap<string, number>;
  /** Monotonic. */
  readonly now: number;
  /** Since when this program leads; monotonic. */
  readonly leaderSince: number;
  readonly options: OrphanPlanOptions;
}

/** Why nothing of what is orphaned is removed. */
type OrphanIdleReason = 'report-only' | 'grace-period';

/** So many of a kind look orphaned that it is more likely the API which has forgotten: after a restore of etcd. */
export interface HeldOrphans {
  readonly kind: OrphanKind;
  readonly orphaned: number;
  readonly owned: number;
}

export interface OrphanPlan {
  /** What looks orphaned in this pass, with since when. */
  readonly suspects: ReadonlyMap<string, number>;
  readonly suspected: readonly Orphan[];
  /** What looked so in the pass before too. */
  readonly orphans: readonly Orphan[];
  readonly held: readonly HeldOrphans[];
  /** Those that were not tried yet, the longest orphaned first; then those that were tried longest ago: some can never be removed. */
  readonly removals: readonly Orphan[];
  readonly idle: OrphanIdleReason | undefined;
}

export function planOrphans(observed: ObservedOrphans): OrphanPlan {
  const { before, leaderSince, live, now, options, parts = [], record = NOTHING_KNOWN, routes = [] } = observed;
  const triedAt = ({ key }: Orphan): number => observed.tried?.get(key) ?? 0;
  const inUse = inUseBy(live.nodes);
  const owned: readonly Orphan[] = [
    ...ownedLoadBalancers(parts, options.clusterId).map((one) => ({ ...one, isLeft: live.left.has(one.uid) })),
    ...ownedRoutes(routes, options.lookedAfter, record),
  ];
  const suspected = owned.filter((one) =>
    one.kind === 'route' ? !inUse(one.route) : one.isLeft || !live.uids.has(one.uid),
  );
  const held = orphanKinds.flatMap((kind) =>
    holdBack(kind, { owned, suspected, live, maxFraction: options.maxFraction }),
  );
  const suspects = new Map(suspected.map(({ key }) => [key, before.get(key) ?? now]));
  const orphans = suspected.filter(({ key }) => before.has(key));
  const idle = idleReason(options, now - leaderSince);
  const removals =
    idle === undefined
      ? orphans
          .filter((one) => mayGo(one) && !held.some(({ kind }) => kind === one.kind))
          .toSorted((a, b) => triedAt(a) - triedAt(b) || (suspects.get(a.key) ?? 0) - (suspects.get(b.key) ?? 0))
          .slice(0, options.maxDeletions)
      : [];
  return { suspects, suspected, orphans, held, removals, idle };
}

/** A Service that lives may be served again, by this provider or by what it has become: a person decides. */
export const mayGo = (orphan: Orphan): boolean => orphan.kind === 'route' || !orphan.isLeft;

function idleReason({ gracePeriodMs, policy }: OrphanPlanOptions, ledForMs: number): OrphanIdleReason | undefined {
  if (policy !== 'delete') return 'report-only';
  return ledForMs < gracePeriodMs ? 'grace-period' : undefined;
}

interface Suspicion {
  readonly owned: readonly Orphan[];
  readonly suspected: readonly Orphan[];
  readonly live: LiveObjects;
  readonly maxFraction: number;
}

/** The small term keeps 0.29 × 100 from being 28. */
function holdBack(kind: OrphanKind, { live, maxFraction, owned, suspected }: Suspicion): readonly HeldOrphans[] {
  const all = owned.filter((one) => one.kind === kind).length;
  const orphaned = suspected.filter((one) => one.kind === kind && mayGo(one)).length;
  // One always may go; but not by a list of nodes on which there is none.
  const spared = kind === 'route' && live.nodes.length === 0 ? 0 : 1;
  return orphaned > Math.max(spared, Math.floor(maxFraction * all + 1e-9)) ? [{ kind, orphaned, owned: all }] : [];
}
