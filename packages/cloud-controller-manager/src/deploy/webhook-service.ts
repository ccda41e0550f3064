/** Where the API server finds the webhooks of the program: a Service before all replicas. */
import { NAMESPACE, podLabels } from './pod-template.ts';

const PORT = 10_260;

/** `clientConfig` of `admissionregistration.k8s.io/v1`. */
export type WebhookClientConfig = (
  | { readonly url: string }
  | {
      readonly service: {
        readonly name: string;
        readonly namespace: string;
        readonly port: number;
        readonly path: string;
      };
    }
) & {
  /** PEM in base64. Without it, the authorities of the API server's machine. */
  readonly caBundle?: string;
};

/** Each webhook has a Service of its own, so that one can be taken away and the other stays. */
export function webhookService(name: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: NAMESPACE },
    spec: { selector: podLabels, ports: [{ name: 'webhook', port: PORT, targetPort: PORT, protocol: 'TCP' }] },
  };
}

export function webhookClientConfig(name: string, path: string): WebhookClientConfig {
  return { service: { name, namespace: NAMESPACE, port: PORT, path } };
}

/** By which cert-manager puts the authority of the Certificate of this name into `caBundle`. */
export function injectedAuthority(name: string): Readonly<Record<string, string>> {
  return { 'cert-manager.io/inject-ca-from': `${NAMESPACE}/${name}` };
}
