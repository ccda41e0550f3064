/** How the API server is told of the PersistentVolume label webhook: `deploy/pv-label-webhook.yml`. */
import { volumeHandles } from '@outrigger/controllers';
import { yamlDocuments } from '../yaml-documents.ts';

/** As in `--webhooks`. */
export const PV_LABEL_WEBHOOK = 'pvlabel';
export const PV_LABEL_WEBHOOK_PATH = '/mutate/persistent-volumes';

const NAME = 'outrigger-cloud-controller-manager-webhook';
const NAMESPACE = 'kube-system';
const PORT = 10_260;

/** `clientConfig` of `admissionregistration.k8s.io/v1`: where the API server finds the webhook. */
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

/** The object to be applied. A volume is stored with or without the webhook: what it misses, the controller adds. */
export function pvLabelWebhookConfiguration(
  clientConfig: WebhookClientConfig = serviceClientConfig,
  annotations?: Readonly<Record<string, string>>,
): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: NAME, ...(annotations && { annotations }) },
    webhooks: [
      {
        name: `${PV_LABEL_WEBHOOK}.outrigger.dev`,
        admissionReviewVersions: ['v1'],
        clientConfig,
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE'],
            resources: ['persistentvolumes'],
            scope: 'Cluster',
          },
        ],
        // Asked only about what it could add something to: CSI volumes, nearly all there are, never wait for it.
        matchConditions: [
          { name: 'in-a-cloud', expression: sourceCondition() },
          { name: 'lacks-topology', expression: lackCondition },
        ],
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        reinvocationPolicy: 'Never',
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  };
}

const serviceClientConfig: WebhookClientConfig = {
  service: { name: NAME, namespace: NAMESPACE, port: PORT, path: PV_LABEL_WEBHOOK_PATH },
};

function sourceCondition(): string {
  return [...Object.keys(volumeHandles), 'flexVolume'].map((source) => `has(object.spec.${source})`).join(' || ');
}

const lackCondition = [
  '!has(object.spec.nodeAffinity)',
  '!has(object.metadata.labels)',
  ...['zone', 'region'].map(
    (what) =>
      `!('topology.kubernetes.io/${what}' in object.metadata.labels || 'failure-domain.beta.kubernetes.io/${what}' in object.metadata.labels)`,
  ),
].join(' || ');

/** `serves`: labels of the pods that serve the webhook. */
export function pvLabelWebhookManifest(serves: Readonly<Record<string, string>>): Promise<string> {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: NAME, namespace: NAMESPACE },
    spec: { selector: serves, ports: [{ name: 'webhook', port: PORT, targetPort: PORT, protocol: 'TCP' }] },
  };
  // cert-manager puts the authority of this Certificate in; without it, set caBundle by hand.
  const annotations = { 'cert-manager.io/inject-ca-from': `${NAMESPACE}/${NAME}` };
  return yamlDocuments([service, pvLabelWebhookConfiguration(undefined, annotations)]);
}
