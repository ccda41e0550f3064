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
        "Which Services may begin to use another Service's load balancer: of its 'namespace' and those that its annotation outrigger.dev/share-load-balancer-with names, of the whole 'cluster', or none ('off'). Who shares one already goes on to.",
    },
    unconfirmedNodeAddresses: {
      type: bool,
      default: false,
      usage:
        'Load balancers send traffic to addresses of nodes that stand in their status alone, where a kubelet can write any, and that the cloud does not give for the machine.',
    },
    trustedServiceNamespaces: {
      type: strings,
      default: ['*'],
      usage:
        "Namespaces whose Services may name things of the cloud: by loadBalancerIP, and by annotations that the provider marks as dangerous. '*': all.",
    },
  },
};
