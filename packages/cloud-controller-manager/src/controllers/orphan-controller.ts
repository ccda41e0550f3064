/** The orphan controller, from the program's flags. */
import type { Capabilities } from '@outrigger/cloud-provider';
import { createOrphanController, parseClusterCidrs } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import type { LeaderContext } from './cloud-controller.ts';
import { ROUTE_CONTROLLER } from './route-controller.ts';
import { runWhileCapable } from './while-capable.ts';

export const ORPHAN_CONTROLLER = 'orphan-controller';

export function buildOrphanController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, cluster, eventsOf, explanations, loadBalancerLocks, metrics, options, provider, random } =
    context;
  const logger = context.logger.with({ controller: ORPHAN_CONTROLLER });
  const events = eventsOf(ORPHAN_CONTROLLER);
  const leaderSince = clock.monotonic();
  const { orphans } = options;
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: (): Capabilities | undefined => {
            const { capabilities } = provider;
            return capabilities.loadBalancers || capabilities.routes ? capabilities : undefined;
          },
          what: 'load balancers or routes',
          logger,
          build: (capabilities) => {
            const controller = createOrphanController({
              client,
              provider: capabilities,
              callContext: (wanted) => provider.callContext(wanted),
              locks: loadBalancerLocks,
              leaderSince,
              events,
              clock,
              logger,
              metrics,
              random,
              journal: context.journal.of(ORPHAN_CONTROLLER),
              options: {
                clusterId: cluster.id,
                providerName: provider.name,
                policy: orphans.orphanPolicy,
                gracePeriodMs: orphans.orphanGracePeriod,
                maxDeletions: orphans.orphanMaxDeletions,
                maxFraction: orphans.orphanMaxFraction,
                periodMs: orphans.orphanCheckPeriod,
                // Within these ranges the route controller removes what no node has.
                lookedAfter: context.runs(ROUTE_CONTROLLER) ? parseClusterCidrs(options.cloud.clusterCidr) : [],
              },
            });
            return explanations.follow(controller, { kinds: ['service', 'route'], provider });
          },
        },
        signal,
      ),
  };
}
