import { loadConfig } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { testOrphanController } from './orphan-controller.suite.ts';

testOrphanController('real API server', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
});
