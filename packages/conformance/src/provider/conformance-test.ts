/** One promise of the contract, as data: what it is about, where it is written, what it takes to try it, and how. */
import type { Capabilities } from '@outrigger/cloud-provider';
import type { FixtureHook, ProviderFixture } from './provider-fixture.ts';
import type { ProviderRig } from './provider-rig.ts';

export type ProviderFeature =
  | 'provider'
  | 'instances'
  | 'load-balancers'
  | 'routes'
  | 'volumes'
  | 'pod-ranges'
  | 'node-tags';

export interface ConformanceTest {
  /** Stable: `instances / a stopped machine is there`. */
  readonly name: string;
  readonly feature: ProviderFeature;
  /** Where the promise is written. */
  readonly source: string;
  /** What it is about has to be declared; `what` says it in words. Default: it is about every provider. */
  readonly declares?: { readonly what: string; readonly holds: (capabilities: Capabilities) => boolean } | undefined;
  /** What the fixture has to offer. */
  readonly hooks?: readonly FixtureHook[] | undefined;
  /** Throws where the promise is not kept; `NotVerifiable` where that could not be found out. */
  run(rig: ProviderRig): Promise<void>;
}

/** Why a test is not run against this subject; `undefined`: it is. */
export function whyLeftOut(
  { declares, hooks = [] }: ConformanceTest,
  capabilities: Capabilities,
  fixture: ProviderFixture,
): { readonly outcome: 'skipped' | 'unverifiable'; readonly reason: string } | undefined {
  if (declares && !declares.holds(capabilities)) {
    return { outcome: 'skipped', reason: `the provider does not declare ${declares.what}` };
  }
  const lacking = hooks.find((hook) => fixture[hook] === undefined && !(hook === 'fail' && fixture.http));
  return lacking && { outcome: 'unverifiable', reason: `the fixture has no ${lacking}` };
}

/** `declares` of a test that is about a whole capability. */
export function has(name: keyof Capabilities): NonNullable<ConformanceTest['declares']> {
  return { what: name, holds: (capabilities) => capabilities[name] !== undefined };
}
