/** The contracts of the controllers with the real API server: one for all of them, which each test finds as it was at its start. */
import { after, type TestContext } from 'node:test';
import { loadConfig, type ClusterConfig } from '@outrigger/kube';
import { sharedControlPlane } from '@outrigger/testing';
import { testRangeAllocator } from './node-ipam/range-allocator.suite.ts';
import { testNodeLifecycleController } from './node-lifecycle/node-lifecycle-controller.suite.ts';
import { testNodeController } from './node/node-controller.suite.ts';
import { testOrphanController } from './orphans/orphan-controller.suite.ts';
import { testRouteController } from './route/route-controller.suite.ts';
import { testServiceController } from './service/service-controller.suite.ts';

const SUBJECT = 'real API server';
const shared = sharedControlPlane(after);

async function start(t: TestContext): Promise<ClusterConfig | undefined> {
  const controlPlane = await shared(t);
  return controlPlane && loadConfig({ kubeconfig: controlPlane.kubeconfig.path });
}

testNodeController(SUBJECT, start);
testNodeLifecycleController(SUBJECT, start);
testRangeAllocator(SUBJECT, 1000, start);
testRouteController(SUBJECT, 500, start);
testServiceController(SUBJECT, start);
testOrphanController(SUBJECT, start);
