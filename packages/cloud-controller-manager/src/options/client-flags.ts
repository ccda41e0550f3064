/** How the program reaches the API server. */
import { float, integer, string, type FlagGroup } from '@outrigger/controller-manager';

export interface ClientOptions {
  kubeconfig: string;
  master: string;
  kubeApiQps: number;
  kubeApiBurst: number;
  kubeApiContentType: string;
}

export const clientFlags: FlagGroup<ClientOptions> = {
  title: 'Kubernetes client',
  flags: {
    kubeconfig: {
      type: string,
      default: '',
      usage: 'Path of a kubeconfig file. Without it: $KUBECONFIG, ~/.kube/config, or the service account of the pod.',
    },
    master: {
      type: string,
      default: '',
      usage: 'URL of the API server; overrides the one in the kubeconfig.',
    },
    kubeApiQps: {
      type: float({ min: 0 }),
      default: 0,
      usage:
        'Requests per second to the API server. 0: no client-side limit; API Priority and Fairness of the server applies.',
    },
    kubeApiBurst: {
      type: integer({ min: 0 }),
      default: 0,
      usage: 'Burst of requests to the API server, if --kube-api-qps is set. 0: twice --kube-api-qps.',
    },
    kubeApiContentType: {
      type: string,
      default: 'application/json',
      compatibility: true,
      usage: 'Accepted for compatibility: nodes and Services are read in protobuf, everything else is JSON.',
    },
  },
};
