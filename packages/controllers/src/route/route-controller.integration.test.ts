import { loadConfig } from '@outrigger/kube';
import { startEmbeddedApiServer } from '@outrigger/testing';
import { testRouteController } from './route-controller.suite.ts';

testRouteController('embedded API server', 100, async (t) => {
  const server = await startEmbeddedApiServer();
  t.after(() => server[Symbol.asyncDispose]());
  return loadConfig({ kubeconfig: 'embedded', readFile: () => Promise.resolve(server.kubeconfig().yaml) });
});
