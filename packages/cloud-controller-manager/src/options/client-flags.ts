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
      usage: 'URL of the API server; takes the place of the one in the kubeconfig.',
    },
    kubeApiQps: {
      type: float({ min: 0 }),
      default: 0,
      usage:
        "Requests a second to the API server, over time. 0: no limit of our own; the server's priority and fairness rules.",
    },
    kubeApiBurst: {
      type: integer({ min: 0 }),
      default: 0,
      usage: 'Requests at once after a pause, when --kube-api-qps is set. 0: twice --kube-api-qps.',
    },
    kubeApiContentType: {
      type: string,
      default: 'application/json',
      usage: 'Accepted for compatibility: JSON is spoken.',
    },
  },
};
