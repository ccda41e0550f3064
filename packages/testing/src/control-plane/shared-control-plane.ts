import type { TestContext } from 'node:test';
import type { ControlPlane, ControlPlaneOptions } from './control-plane-contract.ts';
import { controlPlaneOrSkip } from './control-plane-or-skip.ts';

/**
 * One control plane for tests that follow each other: each finds it as it was at its start (`ControlPlane.reset`), and saves the four
 * seconds of processor time that another one takes. It starts with the first test that asks, which is skipped where
 * `controlPlaneOrSkip` skips one.
 *
 * Not for tests that run beside each other, nor for those that end, freeze or compact what they are given, or change what every
 * cluster has.
 *
 * @param after Called at once, with what ends the control plane: `after` of `node:test`, in a file that calls this outside of its tests.
 */
export function sharedControlPlane(
  after: (end: () => Promise<void>) => void,
  options: ControlPlaneOptions = {},
): (t: Pick<TestContext, 'skip'>) => Promise<ControlPlane | undefined> {
  let shared: ControlPlane | undefined;
  after(async () => shared?.[Symbol.asyncDispose]());
  return async (t) => {
    if (shared) {
      await shared.reset();
      return shared;
    }
    // It ends with the last test, not with this one.
    shared = await controlPlaneOrSkip({ skip: (message) => t.skip(message), after: () => {} }, options);
    return shared;
  };
}
