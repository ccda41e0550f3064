/** The node IPAM controller, from the program's flags. */
import { createRangeAllocator, readIpamRanges } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './controllers.ts';
import { IPAM_CONTROLLER } from './options/ipam-flags.ts';
import type { ProgramOptions } from './options/program-options.ts';

/** Why it does not start; `undefined` when it does. */
export function whyNoIpam({ cloud }: Pick<ProgramOptions, 'cloud'>): string | undefined {
  return cloud.allocateNodeCidrs ? undefined : '--allocate-node-cidrs is not set';
}

export function buildIpamController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, eventsOf, exclusive, explanations, journal, metrics, options, random, stores } = context;
  const logger = context.logger.with({ controller: IPAM_CONTROLLER });
  const events = eventsOf(IPAM_CONTROLLER);
  const store = stores.open(resources.nodes);
  const ranges = readIpamRanges({ ...options.ipam, clusterCidr: options.cloud.clusterCidr });
  const allocator = createRangeAllocator({
    client,
    store,
    events,
    clock,
    logger,
    metrics,
    random,
    journal: journal.of(IPAM_CONTROLLER),
    ranges,
    exclusive,
  });
  const followed = explanations.follow(allocator, { kinds: ['node'] });
  return { run: (signal) => followed.run(signal) };
}
