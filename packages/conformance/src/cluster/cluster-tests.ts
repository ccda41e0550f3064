/** Every promise, in the order in which it is told. */
import type { ClusterTest } from './cluster-test.ts';
import { nodeLifecycleTests } from './node-lifecycle-tests.ts';
import { nodeTests } from './node-tests.ts';
import { routeTests } from './route-tests.ts';
import { serviceTests } from './service-tests.ts';

export const clusterTests: readonly ClusterTest[] = [
  ...nodeTests,
  ...nodeLifecycleTests,
  ...serviceTests,
  ...routeTests,
];
