/** The service controller, from the program's flags. */
import { countingReconciles, createServiceController } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import type { NodeAddress } from '@outrigger/cloud-provider';
import { resources, type Node } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { runWhileCapable } from './while-capable.ts';

const NAME = 'service-lb-controller';
/** Under this name people have always seen the Events of load balancers. */
const EVENT_SOURCE = 'service-controller';

export function buildServiceController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { clock, cluster, explanations, isDefault, metrics, options, provider, providers, stores } = context;
  const dependencies = dependenciesOf(context, NAME, EVENT_SOURCE);
  const { events, logger } = dependencies;
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
              ...dependencies,
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
