/** The node IPAM controller, from the program's flags. */
import type { InstanceLookups } from '@outrigger/cloud-runtime';
import { createCloudRanges, createRangeAllocator, readIpamRanges } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import { followAdditionalRanges } from './additional-ranges-file.ts';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { IPAM_CONTROLLER, usesClusterRanges } from '../options/ipam-flags.ts';
import type { ProgramOptions } from '../options/program-options.ts';
import { ROUTE_CONTROLLER, whyNoRoutes } from './route-controller.ts';
import { runWhileCapable } from './while-capable.ts';

type Running = Omit<RunningController, 'name'>;

/** Why it does not start; `undefined` when it does. */
export function whyNoIpam({ cloud }: Pick<ProgramOptions, 'cloud'>): string | undefined {
  return cloud.allocateNodeCidrs ? undefined : '--allocate-node-cidrs is not set';
}

/** With `IPAMFromCluster` both run: what the one gives to nodes, the other gives to their machines. */
export function buildIpamController(context: LeaderContext): Running {
  const { ipam } = context.options;
  const parts = [
    ...(usesClusterRanges(ipam) ? [buildRangeAllocator(context)] : []),
    ...(ipam.cidrAllocatorType === 'RangeAllocator' ? [] : [buildCloudRanges(context)]),
  ];
  return {
    run: async (signal) => {
      // One that fails takes the other along.
      const failed = new AbortController();
      const either = AbortSignal.any([signal, failed.signal]);
      const runs = parts.map((part) =>
        part.run(either).catch((error: unknown) => {
          failed.abort();
          throw error;
        }),
      );
      const outcomes = await Promise.allSettled(runs);
      for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
    },
  };
}

function buildRangeAllocator(context: LeaderContext): Running {
  const { exclusive, explanations, options, stores } = context;
  const allocator = createRangeAllocator({
    ...dependenciesOf(context, IPAM_CONTROLLER),
    store: stores.open(resources.nodes),
    ranges: readIpamRanges({ ...options.ipam, clusterCidr: options.cloud.clusterCidr }),
    exclusive,
    unmanaged: options.cloud.unmanagedNodes,
  });
  const follow = followAdditionalRanges(context, 'node-ipam-ranges', (text) => allocator.addRanges(text));
  const followed = explanations.follow(allocator, { kinds: ['node'] });
  return {
    run: async (signal) => {
      const running = followed.run(signal);
      await Promise.all([running, follow(signal)]);
    },
  };
}

function buildCloudRanges(context: LeaderContext): Running {
  const { exclusive, explanations, options, provider, runs, stores } = context;
  const dependencies = dependenciesOf(context, IPAM_CONTROLLER);
  const direction = options.ipam.cidrAllocatorType === 'IPAMFromCluster' ? 'to-cloud' : 'from-cloud';
  const store = stores.open(resources.nodes);
  const capability = (): InstanceLookups | undefined =>
    direction === 'from-cloud' || provider.capabilities.podRanges ? provider.lookups : undefined;
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability,
          what: direction === 'from-cloud' ? 'instances' : 'instances and podRanges',
          logger: dependencies.logger,
          build: (lookups) => {
            const controller = createCloudRanges({
              ...dependencies,
              store,
              lookups,
              podRanges: provider.capabilities.podRanges,
              callContext: (wanted) => provider.callContext(wanted),
              exclusive,
              options: {
                direction,
                providerName: provider.name,
                unmanaged: options.cloud.unmanagedNodes,
                setsNetworkCondition: !(
                  runs(ROUTE_CONTROLLER) &&
                  whyNoRoutes(options) === undefined &&
                  provider.capabilities.routes !== undefined
                ),
              },
            });
            return explanations.follow(controller, { kinds: ['node'], provider });
          },
        },
        signal,
      ),
  };
}
