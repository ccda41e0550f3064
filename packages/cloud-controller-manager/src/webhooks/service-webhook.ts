/** The webhook for Services: what their cloud says before they are stored. */
import { cutText, NAME_LENGTH } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { onceAMinute, type Webhook } from '@outrigger/controller-manager';
import { isReviewed, reviewService, type ServiceReviewer } from '@outrigger/controllers';
import type { Clock, Logger, Service } from '@outrigger/kube';
import { SERVICE_WEBHOOK, SERVICE_WEBHOOK_PATH } from '../deploy/service-webhook.ts';
import { ReviewTurns } from './review-turns.ts';

export interface ServiceWebhookDependencies {
  /** In the order of `--cloud-provider`: the first serves the Services without a class too. */
  readonly providers: readonly Pick<OpenedProvider, 'callContext' | 'capabilities' | 'name'>[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Only the API server calls (`--webhook-client-ca-file`). What others make up is noted of no Service. */
  readonly isTrusted: boolean;
  /** Ends the questions. */
  readonly signal: AbortSignal;
}

export function createServiceWebhook(dependencies: ServiceWebhookDependencies): Webhook {
  const { clock, isTrusted, logger, providers, signal } = dependencies;
  const isDue = onceAMinute(clock);
  const turns = new ReviewTurns();
  return {
    name: SERVICE_WEBHOOK,
    path: SERVICE_WEBHOOK_PATH,
    answer: async ({ object, oldObject, operation }, inTime) => {
      if ((operation !== 'CREATE' && operation !== 'UPDATE') || !isService(object)) return {};
      if ((object.spec as unknown) === null) return { refused: 'spec is null; a Service has an object' };
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
        const ends = AbortSignal.any([signal, inTime]);
        const call = provider.callContext({
          signal: ends,
          // One that is late lets its Service pass; what proves that a part is gone must not wait for it.
          priority: 'normal',
          reads: true,
          logger,
          about: isTrusted ? [object.metadata?.uid ?? ''] : [],
        });
        const { error, ...review } = await turns.inTurn(object.metadata?.namespace ?? '', ends, () =>
          reviewService(object, reviewer, call, isService(oldObject) ? oldObject : undefined),
        );
        if (error && isDue(provider.name)) {
          logger.warn('The provider could not check a Service', { service: nameOf(object), error });
        }
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
  return cutText(`${metadata?.namespace}/${metadata?.name}`, 2 * NAME_LENGTH);
}
