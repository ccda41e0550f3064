/** The webhook for Services: what their cloud says before they are stored. */
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import type { Webhook } from '@outrigger/controller-manager';
import { isReviewed, reviewService, type ServiceReviewer } from '@outrigger/controllers';
import type { Logger, Service } from '@outrigger/kube';
import { SERVICE_WEBHOOK, SERVICE_WEBHOOK_PATH } from '../deploy/service-webhook.ts';

export interface ServiceWebhookDependencies {
  /** In the order of `--cloud-provider`: the first serves the Services without a class too. */
  readonly providers: readonly Pick<OpenedProvider, 'callContext' | 'capabilities' | 'name'>[];
  readonly logger: Logger;
  /** Only the API server calls (`--webhook-client-ca-file`). What others make up goes before no Service, and is noted of none. */
  readonly isTrusted: boolean;
  /** Ends the questions. */
  readonly signal: AbortSignal;
}

export function createServiceWebhook({ isTrusted, logger, providers, signal }: ServiceWebhookDependencies): Webhook {
  return {
    name: SERVICE_WEBHOOK,
    path: SERVICE_WEBHOOK_PATH,
    answer: async ({ object, operation }, inTime) => {
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !isService(object)) return {};
      for (const [index, provider] of providers.entries()) {
        const { loadBalancers } = provider.capabilities;
        if (!loadBalancers) continue;
        const { classes } = loadBalancers;
        const reviewer: ServiceReviewer = {
          loadBalancers,
          providerName: provider.name,
          classes,
          isDefault: index === 0,
        };
        if (!isReviewed(object, reviewer)) continue;
        const call = provider.callContext({
          signal: AbortSignal.any([signal, inTime]),
          priority: isTrusted ? 'critical' : 'normal',
          reads: true,
          logger,
          about: isTrusted ? [object.metadata?.uid ?? ''] : [],
        });
        const { error, ...review } = await reviewService(object, reviewer, call);
        if (error) logger.warn('The provider could not check a Service', { service: nameOf(object), error });
        return review;
      }
      return {};
    },
  };
}

function isService(object: unknown): object is Service {
  const { apiVersion, kind } = (object ?? {}) as Service;
  return apiVersion === 'v1' && kind === 'Service';
}

function nameOf({ metadata }: Service): string {
  return `${metadata?.namespace}/${metadata?.name}`;
}
