/** The node lifecycle controller, from the program's flags. */
import { createNodeLifecycleController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'cloud-node-lifecycle-controller';

export function buildNodeLifecycleController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, eventsOf, explanations, isDefault, metrics, options, provider, random, stores } = context;
  const { nodeDeletionGracePeriod, nodeDeletionMaxFraction, unknownNodeDeletionPeriod } = options.nodeLifecycle;
  const logger = context.logger.with({ controller: NAME });
  const events = eventsOf(NAME);
  const store = stores.open(resources.nodes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.lookups,
          what: 'instances',
          logger,
          build: (lookups) => {
            const controller = createNodeLifecycleController({
              client,
              store,
              lookups,
              events,
              clock,
              logger,
              metrics,
              random,
              journal: context.journal.of(NAME),
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
