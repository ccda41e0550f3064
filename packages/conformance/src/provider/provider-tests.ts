/** All promises of the contract, in the order in which they are tried. */
import type { ConformanceTest } from './conformance-test.ts';
import { instanceTests } from './instance-tests.ts';

export const providerTests: readonly ConformanceTest[] = [...instanceTests];
