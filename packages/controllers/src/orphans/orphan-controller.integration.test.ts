import { loadConfig } from '@outrigger/kube';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testOrphanController } from './orphan-controller.suite.ts';

testOrphanController('embedded API server', async (t) => {
  const server = await startEmbeddedApiServer();
  t.after(() => server[Symbol.asyncDispose]());
  return loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(server.kubeconfig().yaml) });
});
