import { loadConfig } from '@outrigger/kube';
import { controlPlaneOrSkip } from '@outrigger/testing';
import { testRouteController } from './route-controller.suite.ts';

testRouteController('real API server', 500, async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
});
