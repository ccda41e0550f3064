import { controlPlaneOrSkip } from '@outrigger/testing';
import { testSeveralProviders } from './several-providers.suite.ts';

testSeveralProviders('real API server', async (t) => {
  const controlPlane = await controlPlaneOrSkip(t);
  return controlPlane && { kubeconfig: controlPlane.kubeconfig.path, directory: controlPlane.directory };
});
