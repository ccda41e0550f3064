import { planNode, type NodePlan } from './index.ts';

/** What is done about a new node, once the cloud has found its machine. */
export function planNewNode(): NodePlan {
  return planNode({
    node: {
      metadata: { name: 'worker-1', uid: '5f0c', labels: {} },
      spec: {
        taints: [{ key: 'node.cloudprovider.kubernetes.io/uninitialized', value: 'true', effect: 'NoSchedule' }],
      },
    },
    answer: {
      asOf: 0,
      result: {
        kind: 'found',
        instance: {
          providerID: 'memory://worker-1',
          state: 'running',
          addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
        },
      },
    },
    now: 0,
    options: { providerName: 'memory', runsRoutes: false, nodeSyncedEvents: false },
  });
}
