/** The service controller, from the program's flags. */
import { countingReconciles, createServiceController, type Machines } from '@outrigger/controllers';
import type { RunningController } from '@outrigger/controller-manager';
import { CloudError } from '@outrigger/cloud-provider';
import { resources } from '@outrigger/kube';
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
              machines: options.service.unconfirmedNodeAddresses ? undefined : machinesOf(provider),
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

/** `provider.lookups` may be others after a change of its config. */
function machinesOf(provider: LeaderContext['provider']): Machines {
  const none = new CloudError('unsupported', 'the provider has no instances');
  const ask =
    (how: 'lookUp' | 'read'): Machines['read'] =>
    async (node, signal) =>
      (await provider.lookups?.[how](node, { need: 'metadata', signal }))?.result ?? { kind: 'failed', error: none };
  return {
    known: ({ metadata }) => provider.lookups?.snapshot.get(metadata?.uid ?? '', 'metadata')?.result,
    lookUp: ask('lookUp'),
    read: ask('read'),
  };
}
