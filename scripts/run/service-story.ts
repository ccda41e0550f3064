/** What became visible about a Service, told from two states of its object. Pure, so that the story can be tested. */
import type { Service } from '@outrigger/kube';

/**
 * Sentences about the difference; `before` is undefined when the Service is seen for the first time, `after` when it is
 * gone. Services that have never wanted a load balancer are no part of the story.
 */
export function tellService(before: Service | undefined, after: Service | undefined): readonly string[] {
  if (![before, after].some((service) => service?.spec?.type === 'LoadBalancer')) return [];
  if (after === undefined) return ['Service deleted'];
  if (before === undefined) return ['Service of type LoadBalancer created'];
  const story: string[] = [];
  if (before.spec?.type !== after.spec?.type) story.push(`type ${after.spec?.type ?? 'ClusterIP'}`);
  if (!before.metadata?.deletionTimestamp && after.metadata?.deletionTimestamp) story.push('Service is to be deleted');
  const added = finalizersOf(after).filter((name) => !finalizersOf(before).includes(name));
  if (added.length > 0) story.push(`finalizer ${added.join(', ')}`);
  if (addressOf(before) !== addressOf(after)) story.push(`status: address ${addressOf(after) || 'taken back'}`);
  return story;
}

/** The address of its load balancer, or empty. */
export function addressOf(service: Service): string {
  return (service.status?.loadBalancer?.ingress ?? []).map(({ hostname = '', ip = hostname }) => ip).join(', ');
}

function finalizersOf(service: Service): readonly string[] {
  return service.metadata?.finalizers ?? [];
}
