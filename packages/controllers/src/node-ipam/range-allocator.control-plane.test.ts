import { loadConfig } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { testRangeAllocator } from './range-allocator.suite.ts';

testRangeAllocator('real API server', 1000, async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
});
