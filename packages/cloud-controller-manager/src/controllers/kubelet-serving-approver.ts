/** The approver of kubelet serving certificates, from the program's flags. */
import type { RunningController } from '@outrigger/controller-manager';
import { createKubeletServingApprover, SERVING_SIGNER, trimServingRequest } from '@outrigger/controllers';
import { resources } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { runWhileCapable } from './while-capable.ts';

export const KUBELET_SERVING_APPROVER = 'kubelet-serving-approver';

export function buildKubeletServingApprover(context: LeaderContext): Omit<RunningController, 'name'> {
  const { explanations, isDefault, options, provider, providers, stores } = context;
  const dependencies = dependenciesOf(context, KUBELET_SERVING_APPROVER);
  const nodes = stores.open(resources.nodes);
  const store = stores.open(resources.certificateSigningRequests, {
    selectors: { fieldSelector: `spec.signerName=${SERVING_SIGNER}` },
    transform: trimServingRequest,
    // A node may fill each, as many as it likes.
    pageSize: 10,
  });
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.lookups,
          what: 'instances',
          logger: dependencies.logger,
          build: (lookups) => {
            const controller = createKubeletServingApprover({
              ...dependencies,
              store,
              nodes,
              lookups,
              options: {
                unmanaged: options.cloud.unmanagedNodes,
                providerName: provider.name,
                providerNames: providers.map(({ name }) => name),
                isDefault,
              },
            });
            return explanations.follow(controller, { kinds: ['certificatesigningrequest'], provider });
          },
        },
        signal,
      ),
  };
}
