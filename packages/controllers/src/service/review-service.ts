/**
 * What a cloud says to a Service that is being written, for the webhook, and what its controller refuses without asking the cloud. Whatever
 * the cloud cannot say lets the Service through: the controller finds it out later, and says so in an Event.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type LoadBalancers,
  type LoadBalancerVerdict,
  type ServiceAnnotation,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { reasonOf } from '../load-balancer/failure.ts';
import { loadBalancerServiceOf } from './load-balancer-service.ts';
import { isOfOurClass, roleOf, type RoleOptions } from './role.ts';
import { sourceRangesAnnotation } from './well-known-names.ts';

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

/** Of the spec. */
const MAY_BE_INVALID: ReadonlySet<string> = new Set(['loadBalancerIP', 'loadBalancerSourceRanges', 'ports']);

/** Whether this provider is to be asked: the Service is to have a load balancer of it, and its cloud has something to say. */
export function isReviewed(service: Service, reviewer: ServiceReviewer): boolean {
  return reviewer.loadBalancers.validate !== undefined && roleOf(service, reviewer) === 'serve';
}

/** Never rejects. `before`: the Service as it is stored, if this changes it. */
export async function reviewService(
  service: Service,
  reviewer: ServiceReviewer,
  call: CallContext,
  before?: Service,
): Promise<ServiceReview> {
  const { loadBalancers, providerName } = reviewer;
  try {
    const invalid = whyInvalid(service, loadBalancers.annotations);
    if (invalid) {
      // What it has had all the time must not keep others from writing to it: its controller has told of that.
      const isServed = before !== undefined && isOfOurClass(before, reviewer);
      const isNew = isServed ? whyInvalid(changedFrom(before, service), loadBalancers.annotations) : invalid;
      if (isNew) return { refused: reasonOf(isNew), warnings: [] };
      return { warnings: [`the Service is stored, but its controller refuses it: ${reasonOf(invalid)}`] };
    }
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

/** Why no cloud is asked about it: what its controller tells in an Event. */
function whyInvalid(service: Service, read: readonly ServiceAnnotation[]): Error | undefined {
  try {
    loadBalancerServiceOf(service, read);
    return undefined;
  } catch (thrown) {
    if (isCloudError(thrown, 'invalid')) return thrown;
    throw thrown;
  }
}

/** Of what may be invalid, only what this changes. The status is not written with the Service. */
function changedFrom(before: Service, { metadata = {}, spec = {} }: Service): Service {
  const isNew = <T extends object>(now: T, then: T | undefined, name: string): boolean =>
    !isDeepStrictEqual(now[name as keyof T], then?.[name as keyof T]);
  // The field takes the place of the annotation.
  const isRead = (name: string): boolean => name !== sourceRangesAnnotation || !spec.loadBalancerSourceRanges?.length;
  const { annotations = {} } = metadata;
  const changed = Object.entries(annotations).filter(
    ([name]) => isRead(name) && isNew(annotations, before.metadata?.annotations, name),
  );
  const fields = Object.entries(spec).filter(([name]) => !MAY_BE_INVALID.has(name) || isNew(spec, before.spec, name));
  return { metadata: { ...metadata, annotations: Object.fromEntries(changed) }, spec: Object.fromEntries(fields) };
}

/** A provider may be written in JavaScript. */
function isVerdict(verdict: unknown): verdict is LoadBalancerVerdict {
  if (typeof verdict !== 'object' || verdict === null) return false;
  const { refused, warnings = [] } = verdict as { readonly refused?: unknown; readonly warnings?: unknown };
  const isRefusal = refused === undefined || refused instanceof Error || isCloudError(refused);
  return isRefusal && Array.isArray(warnings) && warnings.every((warning) => typeof warning === 'string');
}
