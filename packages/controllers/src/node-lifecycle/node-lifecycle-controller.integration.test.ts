import { loadConfig } from '@outrigger/kube';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testNodeLifecycleController } from './node-lifecycle-controller.suite.ts';

testNodeLifecycleController('embedded API server', async (t) => {
  const server = await startEmbeddedApiServer();
  t.after(() => server[Symbol.asyncDispose]());
  return loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(server.kubeconfig().yaml) });
});
