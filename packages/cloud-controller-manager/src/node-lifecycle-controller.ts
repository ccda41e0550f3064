/** The node lifecycle controller, from the program's flags. */
import { createNodeLifecycleController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './controllers.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'cloud-node-lifecycle-controller';

export function buildNodeLifecycleController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, eventsOf, metrics, options, provider, random, stores } = context;
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
          build: (lookups) =>
            createNodeLifecycleController({
              client,
              store,
              lookups,
              events,
              clock,
              logger,
              metrics,
              random,
              options: {
                providerName: provider.name,
                deletionGraceMs: nodeDeletionGracePeriod,
                deletionMaxFraction: nodeDeletionMaxFraction,
                unknownNodeDeletionMs: unknownNodeDeletionPeriod,
              },
            }),
        },
        signal,
      ),
  };
}
