/** The orphan controller, from the program's flags. */
import type { Capabilities } from '@outrigger/cloud-provider';
import { createOrphanController, parseClusterCidrs } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { ROUTE_CONTROLLER } from './route-controller.ts';
import { runWhileCapable } from './while-capable.ts';

export const ORPHAN_CONTROLLER = 'orphan-controller';

export function buildOrphanController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { clock, cluster, explanations, isDefault, loadBalancerLocks, options, provider } = context;
  const dependencies = dependenciesOf(context, ORPHAN_CONTROLLER);
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
          logger: dependencies.logger,
          build: (capabilities) => {
            const controller = createOrphanController({
              ...dependencies,
              provider: capabilities,
              callContext: (wanted) => provider.callContext(wanted),
              locks: loadBalancerLocks,
              leaderSince,
              options: {
                clusterId: cluster.id,
                providerName: provider.name,
                isDefault,
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
