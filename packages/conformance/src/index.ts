/** Suites that judge providers and cloud-controller-managers. See ../README.md. */
export type { ConformanceReport, Outcome, TestResult } from './conformance-report.ts';

// Providers
export { providerConformance, type LeftOut, type ProviderConformanceOptions } from './provider/provider-conformance.ts';
export { providerTests } from './provider/provider-tests.ts';
export { runProviderTest, runProviderTests, type RunProviderOptions } from './provider/run-provider-tests.ts';
export type { ConformanceTest, ProviderFeature } from './provider/conformance-test.ts';
export type { ProviderRig, ProviderSubject } from './provider/provider-rig.ts';
export type {
  CloudFailure,
  DeclaredRequests,
  FixtureHook,
  MovableClock,
  NamedThing,
  ProviderFixture,
} from './provider/provider-fixture.ts';

// Clusters
export type { ClusterFixture, ClusterHook, ClusterMachine, ServiceIdentity } from './cluster/cluster-fixture.ts';
export { runClusterConformance } from './cluster/command.ts';
export { runClusterTests, type ClusterRun, type RunClusterOptions } from './cluster/run-cluster-tests.ts';
