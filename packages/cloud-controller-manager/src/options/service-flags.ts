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
      default: 32,
      usage:
        'Number of load balancers that are changed concurrently. Those for which the cloud is still carrying out a change are not counted, up to three times this number. Their state is read in batches and not limited by it.',
    },
    loadBalancerSharing: {
      type: oneOf(loadBalancerSharings),
      default: 'namespace',
      usage:
        "Which Services may start to share the load balancer of another Service: those of its 'namespace' and of the namespaces that its annotation outrigger.dev/share-load-balancer-with names, those of the whole 'cluster', or none ('off'). Services that already share one are not affected.",
    },
    unconfirmedNodeAddresses: {
      type: bool,
      default: false,
      usage:
        "Load balancers also send traffic to node addresses that the cloud does not report for the machine, and to nodes whose machine it does not know: to what is only in the node's status, which its kubelet can set to anything.",
    },
    trustedServiceNamespaces: {
      type: strings,
      default: ['*'],
      usage:
        "Namespaces whose Services may name resources of the cloud: by loadBalancerIP, and by annotations that the provider marks as dangerous. '*': all.",
    },
  },
};
