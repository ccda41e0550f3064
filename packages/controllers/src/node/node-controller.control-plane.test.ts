import { loadConfig } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { testNodeController } from './node-controller.suite.ts';

testNodeController('real API server', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
});
