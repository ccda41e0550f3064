/** The service controller. */
import { loadBalancerSharings, type LoadBalancerSharing } from '@outrigger/controllers';
import { bool, integer, oneOf, strings, type FlagGroup } from '@outrigger/controller-manager';

export interface ServiceOptions {
  concurrentServiceSyncs: number;
  loadBalancerSharing: LoadBalancerSharing;
  trustedServiceNamespaces: readonly string[];
  unconfirmedNodeAddresses: boolean;
}

export const serviceFlags: FlagGroup<ServiceOptions> = {
  title: 'Service controller',
  flags: {
    concurrentServiceSyncs: {
      type: integer({ min: 1, max: 1_000 }),
      default: 10,
      usage:
        'Load balancers that are changed at once. What there is of them is looked up in batches and not bound by it.',
    },
    loadBalancerSharing: {
      type: oneOf(loadBalancerSharings),
      default: 'namespace',
      usage:
        "Which Services may begin to use another Service's load balancer: of its 'namespace' and those that its annotation outrigger.dev/share-load-balancer-with names, of the whole 'cluster', or none ('off'). Services that share one already continue to.",
    },
    unconfirmedNodeAddresses: {
      type: bool,
      default: false,
      usage:
        "Load balancers also send traffic to node addresses that the cloud does not report for the machine: those that only the node's status has, where its kubelet can write any.",
    },
    trustedServiceNamespaces: {
      type: strings,
      default: ['*'],
      usage:
        "Namespaces whose Services may name things of the cloud: by loadBalancerIP, and by annotations that the provider marks as dangerous. '*': all.",
    },
  },
};
