import { loadConfig } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { testServiceController } from './service-controller.suite.ts';

testServiceController('real API server', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
});
