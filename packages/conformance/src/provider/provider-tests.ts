/** All promises of the contract, in the order in which they are tried. */
import type { ConformanceTest } from './conformance-test.ts';
import { instanceTests } from './instance-tests.ts';
import { lifecycleTests } from './lifecycle-tests.ts';
import { loadBalancerCrashTests } from './load-balancer-crash-tests.ts';
import { loadBalancerFeatureTests } from './load-balancer-feature-tests.ts';
import { loadBalancerOwnerTests } from './load-balancer-owner-tests.ts';
import { loadBalancerTests } from './load-balancer-tests.ts';
import { nodeTagTests } from './node-tag-tests.ts';
import { podRangeTests } from './pod-range-tests.ts';
import { routeTests } from './route-tests.ts';
import { volumeTests } from './volume-tests.ts';

export const providerTests: readonly ConformanceTest[] = [
  ...lifecycleTests,
  ...instanceTests,
  ...loadBalancerTests,
  ...loadBalancerFeatureTests,
  ...loadBalancerOwnerTests,
  ...loadBalancerCrashTests,
  ...routeTests,
  ...volumeTests,
  ...podRangeTests,
  ...nodeTagTests,
];
