/** The service controller, from the program's flags. */
import { countingReconciles, createServiceController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import type { NodeAddress } from '@outrigger/cloud-provider';
import { resources, type Node } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'service-lb-controller';
/** Under this name people have always seen the Events of load balancers. */
const EVENT_SOURCE = 'service-controller';

export function buildServiceController(context: LeaderContext): Omit<RunningController, 'name'> {
  const {
    client,
    clock,
    cluster,
    eventsOf,
    explanations,
    isDefault,
    metrics,
    options,
    provider,
    providers,
    random,
    stores,
  } = context;
  const logger = context.logger.with({ controller: NAME });
  const events = eventsOf(EVENT_SOURCE);
  const services = stores.open(resources.services);
  const nodes = stores.open(resources.nodes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.capabilities.loadBalancers,
          what: 'load balancers',
          logger,
          build: (loadBalancers) => {
            const controller = createServiceController({
              client,
              services,
              nodes,
              provider: loadBalancers,
              cloudAddresses: options.service.unconfirmedNodeAddresses
                ? undefined
                : (node) => addressesOf(provider, node),
              confirmAddress: options.service.unconfirmedNodeAddresses
                ? undefined
                : async (node, within) => provider.lookups?.lookUp(node, { need: 'metadata', signal: within }),
              callContext: (wanted) => provider.callContext(wanted),
              events: countingReconciles(events, provider.predecessorMetrics?.reconciles, { clock, metrics }),
              clock,
              logger,
              metrics,
              random,
              journal: context.journal.of(NAME),
              locks: context.loadBalancerLocks,
              onReconfigured: (listener) => provider.onReconfigured(listener),
              options: {
                providerName: provider.name,
                unmanaged: options.cloud.unmanagedNodes,
                providers: providers.map(({ name }) => name),
                clusterId: cluster.id,
                isDefault,
                concurrentServiceSyncs: options.service.concurrentServiceSyncs,
                sharing: options.service.loadBalancerSharing,
                trustedNamespaces: options.service.trustedServiceNamespaces,
              },
            });
            return explanations.follow(controller, { kinds: ['service'], provider });
          },
        },
        signal,
      ),
  };
}

/** By the last answer, whoever of the controllers has asked. */
function addressesOf({ lookups }: LeaderContext['provider'], { metadata }: Node): readonly NodeAddress[] | undefined {
  const result = lookups?.snapshot.get(metadata?.uid ?? '', 'metadata')?.result;
  return result?.kind === 'found' ? result.instance.addresses : undefined;
}
