/** The route controller, from the program's flags. */
import { parseCidr } from '@outrigger/cloud-provider';
import { createRouteController, followRanges, parseClusterCidrs, type RouteController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import { followAdditionalRanges } from './additional-ranges-file.ts';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import { runWhileCapable } from './while-capable.ts';

export const ROUTE_CONTROLLER = 'node-route-controller';

/** Why it does not start; `undefined` when it does. */
export function whyNoRoutes({ cloud }: Pick<ProgramOptions, 'cloud'>): string | undefined {
  if (!cloud.configureCloudRoutes) return '--configure-cloud-routes is false';
  if (cloud.clusterCidr === '')
    return '--cluster-cidr is not set: without it the routes of this cluster cannot be recognized';
  return undefined;
}

export function buildRouteController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { cluster, explanations, options, provider, stores } = context;
  const dependencies = dependenciesOf(context, ROUTE_CONTROLLER);
  const store = stores.open(resources.nodes);
  const fixed = parseClusterCidrs(options.cloud.clusterCidr);
  // Only Node IPAM refuses what is no range: charts pass the flag to programs that do not run it.
  const serviceCidrs = options.ipam.serviceClusterIpRange.split(',').flatMap((text) => parseCidr(text.trim()) ?? []);
  let clusterRanges = fixed;
  let knowsAllRanges = options.ipam.additionalClusterCidrsFile === '';
  let running: RouteController | undefined;
  const follow = followAdditionalRanges(context, 'route-ranges', (text) => {
    clusterRanges = followRanges({ fixed, current: clusterRanges, text, nodes: store.values() });
    knowsAllRanges = true;
    running?.replan();
  });
  return {
    run: async (signal) => {
      await follow(signal);
      await runWhileCapable(
        {
          provider,
          capability: () => provider.capabilities.routes,
          what: 'routes',
          logger: dependencies.logger,
          build: (routes) => {
            const controller = createRouteController({
              ...dependencies,
              store,
              routes,
              callContext: (wanted) => provider.callContext(wanted),
              options: {
                providerName: provider.name,
                unmanaged: options.cloud.unmanagedNodes,
                clusterId: cluster.id,
                get clusterCidrs() {
                  return clusterRanges;
                },
                serviceCidrs,
                get knowsAllRanges() {
                  return knowsAllRanges;
                },
                routeReconciliationPeriodMs: options.route.routeReconciliationPeriod || undefined,
              },
            });
            running = controller;
            return explanations.follow(controller, { kinds: ['node', 'route'], provider });
          },
        },
        signal,
      );
    },
  };
}
