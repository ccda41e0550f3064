import { loadConfig } from '@outrigger/kube';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testNodeController } from './node-controller.suite.ts';

testNodeController('embedded API server', async (t) => {
  const server = await startEmbeddedApiServer();
  t.after(() => server[Symbol.asyncDispose]());
  return loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(server.kubeconfig().yaml) });
});
