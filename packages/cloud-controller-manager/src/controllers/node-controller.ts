/** The node controller, from the program's flags. */
import { batchSizeOf } from '@outrigger/cloud-runtime';
import { createNodeController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { ROUTE_CONTROLLER } from './route-controller.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'cloud-node-controller';

export function buildNodeController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { explanations, options, provider, runs, stores } = context;
  const { concurrentNodeSyncs, nodeMaintenanceConditions, nodeStatusUpdateFrequency, nodeSyncedEvents } = options.node;
  const dependencies = dependenciesOf(context, NAME);
  const nodes = stores.open(resources.nodes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.lookups,
          what: 'instances',
          logger: dependencies.logger,
          build: (lookups) => {
            const { instances } = provider.capabilities;
            const controller = createNodeController({
              ...dependencies,
              store: nodes,
              lookups,
              provider,
              options: {
                providerName: provider.name,
                unmanaged: options.cloud.unmanagedNodes,
                concurrentNodeSyncs,
                nodeStatusUpdateFrequencyMs: nodeStatusUpdateFrequency,
                nodeSyncedEvents,
                maintenanceConditions: nodeMaintenanceConditions,
                // Only where somebody gives nodes pod CIDRs: without, there will be no route, and the node needs none.
                runsRoutes:
                  runs(ROUTE_CONTROLLER) &&
                  options.cloud.allocateNodeCidrs &&
                  provider.capabilities.routes !== undefined,
                ...(instances && { batchSize: batchSizeOf(instances) }),
              },
            });
            return explanations.follow(controller, { kinds: ['node'], provider });
          },
        },
        signal,
      ),
  };
}
