/** One promise that Kubernetes makes of a cloud-controller-manager, as data: where it is written, what it takes to try it, and how. */
import type { ClusterFixture, ClusterHook } from './cluster-fixture.ts';
import type { ClusterRig } from './cluster-rig.ts';

export const CLUSTER_FEATURES = ['nodes', 'node-lifecycle', 'services', 'routes'] as const;

type ClusterFeature = (typeof CLUSTER_FEATURES)[number];

export interface ClusterTest {
  /** Stable: `nodes / the provider ID is set`. */
  readonly name: string;
  readonly feature: ClusterFeature;
  /** Where the promise is written. */
  readonly source: string;
  /** It has the manager delete a Node, or it takes a machine away: done with `--disruptive` alone. */
  readonly disruptive?: true;
  /** A machine that the fixture makes. `node`: one that the user names does as well. */
  readonly machine?: 'own' | 'node';
  readonly hooks?: readonly ClusterHook[];
  /** It disturbs all others: it runs after them. */
  readonly alone?: true;
  /** Throws where the promise is not kept; `NotVerifiable` where that could not be found out. */
  run(rig: ClusterRig): Promise<void>;
}

export interface Chosen {
  readonly features: readonly string[];
  readonly disruptive: boolean;
  /** The Node that the user named; empty: none. */
  readonly node: string;
  readonly fixture: ClusterFixture | undefined;
}

/** Why a test is not run; `undefined`: it is. */
export function whyLeftOut(
  { feature, disruptive, machine, hooks = [] }: ClusterTest,
  chosen: Chosen,
): { readonly outcome: 'skipped' | 'unverifiable'; readonly reason: string } | undefined {
  const { features, fixture, node } = chosen;
  if (!features.includes(feature)) return { outcome: 'skipped', reason: `--features does not name ${feature}` };
  if (machine !== undefined && !fixture && !(machine === 'node' && node !== '')) {
    const other = machine === 'node' ? ' or --node' : '';
    return { outcome: 'unverifiable', reason: `it needs a machine: give --fixture${other}` };
  }
  const lacking = hooks.find((hook) => fixture?.[hook] === undefined);
  if (lacking)
    return {
      outcome: 'unverifiable',
      reason: `it needs ${lacking}: ${fixture ? 'the fixture has none' : 'give --fixture'}`,
    };
  if (disruptive && !chosen.disruptive)
    return { outcome: 'unverifiable', reason: 'it takes a machine or a Node away: allow that with --disruptive' };
  return undefined;
}
