/** The approver of kubelet serving certificates, from the program's flags. */
import type { RunningController } from '@outrigger/controller-manager';
import { createKubeletServingApprover, SERVING_SIGNER } from '@outrigger/controllers';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { runWhileCapable } from './while-capable.ts';

export const KUBELET_SERVING_APPROVER = 'kubelet-serving-approver';

export function buildKubeletServingApprover(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, eventsOf, isDefault, metrics, options, provider, providers, random, stores } = context;
  const logger = context.logger.with({ controller: KUBELET_SERVING_APPROVER });
  const events = eventsOf(KUBELET_SERVING_APPROVER);
  const nodes = stores.open(resources.nodes);
  const store = stores.open(resources.certificateSigningRequests, {
    selectors: { fieldSelector: `spec.signerName=${SERVING_SIGNER}` },
  });
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.lookups,
          what: 'instances',
          logger,
          build: (lookups) =>
            createKubeletServingApprover({
              client,
              store,
              nodes,
              lookups,
              events,
              clock,
              logger,
              metrics,
              random,
              journal: context.journal.of(KUBELET_SERVING_APPROVER),
              options: {
                unmanaged: options.cloud.unmanagedNodes,
                providerName: provider.name,
                providerNames: providers.map(({ name }) => name),
                isDefault,
              },
            }),
        },
        signal,
      ),
  };
}
