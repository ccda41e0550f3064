import type { TestContext } from 'node:test';
import { ControlPlaneError } from './control-plane-error.ts';
import type { ControlPlane, ControlPlaneOptions } from './control-plane-contract.ts';
import { startControlPlane } from './control-plane.ts';

/**
 * The control plane that a test needs; it ends with the test. On a machine where it cannot be had the test is skipped
 * with one line and the result is `undefined` (`if (!controlPlane) return;`); with `CI=true` the test fails instead.
 */
export async function controlPlaneOrSkip(
  t: Pick<TestContext, 'skip' | 'after'>,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane | undefined> {
  const env = options.env ?? process.env;
  try {
    const controlPlane = await startControlPlane(options);
    t.after(() => controlPlane[Symbol.asyncDispose]());
    return controlPlane;
  } catch (error) {
    const missing = error instanceof ControlPlaneError && error.code === 'control-plane-missing';
    if (!missing || env['CI'] === 'true') throw error;
    t.skip(error.message.split('\n')[0]);
    return undefined;
  }
}
