/** How the API server is told of the webhook for Services: `deploy/service-webhook.yml`. */
import { yamlDocuments } from './yaml-documents.ts';
import { injectedAuthority, webhookClientConfig, webhookService, type WebhookClientConfig } from './webhook-service.ts';

/** As in `--webhooks`. */
export const SERVICE_WEBHOOK = 'service';
export const SERVICE_WEBHOOK_PATH = '/validate/services';

const NAME = 'outrigger-cloud-controller-manager-service-webhook';

export interface ServiceWebhookOptions {
  readonly providerName: string;
  /** Values of `spec.loadBalancerClass` that the provider serves. */
  readonly classes: readonly string[];
  /** Whether it serves the Services without a class too. */
  readonly isDefault: boolean;
}

/** The object to be applied. A Service is stored where no replica answers: what the webhook missed, the controller says. */
export function serviceWebhookConfiguration(
  { classes, isDefault, providerName }: ServiceWebhookOptions,
  clientConfig: WebhookClientConfig = webhookClientConfig(NAME, SERVICE_WEBHOOK_PATH),
  annotations?: Readonly<Record<string, string>>,
): object {
  const list = `[${classes.map((one) => JSON.stringify(one)).join(', ')}]`;
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: `load-balancers.${providerName}.outrigger.dev`, ...(annotations && { annotations }) },
    webhooks: [
      {
        name: `${SERVICE_WEBHOOK}.outrigger.dev`,
        admissionReviewVersions: ['v1'],
        clientConfig,
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'UPDATE'],
            resources: ['services'],
            scope: 'Namespaced',
          },
        ],
        // Few Services are asked about, and none of them when only its labels, its finalizers or its status change.
        matchConditions: [
          { name: 'load-balancer', expression: 'has(object.spec.type) && object.spec.type == "LoadBalancer"' },
          {
            name: 'class',
            expression: `has(object.spec.loadBalancerClass) ? object.spec.loadBalancerClass in ${list} : ${isDefault}`,
          },
          { name: 'not-deleted', expression: '!has(object.metadata.deletionTimestamp)' },
          { name: 'changed', expression: changedCondition },
        ],
        failurePolicy: 'Ignore',
        matchPolicy: 'Equivalent',
        sideEffects: 'None',
        timeoutSeconds: 5,
      },
    ],
  };
}

const annotationsOf = (object: string): string =>
  `(has(${object}.metadata.annotations) ? ${object}.metadata.annotations : {})`;

const changedCondition = `request.operation == "CREATE" || object.spec != oldObject.spec || ${annotationsOf('object')} != ${annotationsOf('oldObject')}`;

/** The whole file. */
export async function serviceWebhookManifest(options: ServiceWebhookOptions): Promise<string> {
  const { providerName } = options;
  return `# The API server asks the cloud-controller-managers what the cloud ${providerName} says to a Service; docs/guides/service-webhook.md says how to set it up.
# Printed by \`outrigger service-webhook\`. Without cert-manager: put the authority of the serving certificate into caBundle.
${await yamlDocuments([webhookService(NAME), serviceWebhookConfiguration(options, undefined, injectedAuthority(NAME))])}`;
}
