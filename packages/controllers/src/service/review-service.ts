/**
 * What a cloud says to a Service that is being written, for the webhook. Whatever the cloud cannot say lets the Service
 * through: the controller finds it out later, and says so in an Event.
 */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancers,
  type LoadBalancerVerdict,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { reasonOf } from '../load-balancer/failure.ts';
import { loadBalancerServiceOf } from './load-balancer-service.ts';
import { roleOf, type RoleOptions } from './role.ts';

export interface ServiceReviewer extends RoleOptions {
  readonly loadBalancers: Pick<LoadBalancers, 'annotations' | 'validate'>;
}

export interface ServiceReview {
  /** Why it must not be stored. */
  readonly refused?: string;
  /** For who writes it. */
  readonly warnings: readonly string[];
  /** Why the cloud could not be asked, for the log. */
  readonly error?: Error;
}

/** Whether this provider is to be asked: the Service is to have a load balancer of it, and its cloud has something to say. */
export function isReviewed(service: Service, reviewer: ServiceReviewer): boolean {
  return reviewer.loadBalancers.validate !== undefined && roleOf(service, reviewer) === 'serve';
}

/** Never rejects. */
export async function reviewService(
  service: Service,
  { loadBalancers, providerName }: ServiceReviewer,
  call: CallContext,
): Promise<ServiceReview> {
  try {
    const verdict: unknown = await loadBalancers.validate?.(
      loadBalancerServiceOf(service, loadBalancers.annotations),
      call,
    );
    if (!isVerdict(verdict)) {
      throw new CloudError(
        'invalid',
        `loadBalancers.validate of ${providerName} returned an answer that breaks the contract`,
      );
    }
    const { refused, warnings = [] } = verdict;
    return { ...(refused && { refused: reasonOf(refused) }), warnings };
  } catch (thrown) {
    if (isCloudError(thrown, 'implemented-elsewhere')) return { warnings: [] };
    const error = asError(thrown);
    return { warnings: [`the cloud ${providerName} could not be asked about the Service: ${reasonOf(error)}`], error };
  }
}

/** A provider may be written in JavaScript. */
function isVerdict(verdict: unknown): verdict is LoadBalancerVerdict {
  if (typeof verdict !== 'object' || verdict === null) return false;
  const { refused, warnings = [] } = verdict as { readonly refused?: unknown; readonly warnings?: unknown };
  const isRefusal = refused === undefined || refused instanceof Error || isCloudError(refused);
  return isRefusal && Array.isArray(warnings) && warnings.every((warning) => typeof warning === 'string');
}
