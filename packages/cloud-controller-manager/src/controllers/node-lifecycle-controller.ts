/** The node lifecycle controller, from the program's flags. */
import { createNodeLifecycleController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'cloud-node-lifecycle-controller';

export function buildNodeLifecycleController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { explanations, isDefault, options, provider, stores } = context;
  const { nodeDeletionGracePeriod, nodeDeletionMaxFraction, unknownNodeDeletionPeriod } = options.nodeLifecycle;
  const dependencies = dependenciesOf(context, NAME);
  const store = stores.open(resources.nodes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.lookups,
          what: 'instances',
          logger: dependencies.logger,
          build: (lookups) => {
            const controller = createNodeLifecycleController({
              ...dependencies,
              store,
              lookups,
              options: {
                providerName: provider.name,
                unmanaged: options.cloud.unmanagedNodes,
                deletionGraceMs: nodeDeletionGracePeriod,
                deletionMaxFraction: nodeDeletionMaxFraction,
                // A node without a provider ID is nobody's: of several, one is to judge that no cloud has it.
                unknownNodeDeletionMs: isDefault ? unknownNodeDeletionPeriod : 0,
              },
            });
            return explanations.follow(controller, { kinds: ['node'], provider });
          },
        },
        signal,
      ),
  };
}
