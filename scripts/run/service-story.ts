/** What became visible about the Service, told from two states of its object. Pure, so that the story can be tested. */
import type { Service } from '@outrigger/kube';

/** Sentences about the difference; `before` is undefined when the Service is seen for the first time. */
export function tellService(before: Service | undefined, after: Service): readonly string[] {
  if (before === undefined) return [`Service of type ${after.spec?.type ?? 'ClusterIP'} created`];
  const story: string[] = [];
  const added = finalizersOf(after).filter((name) => !finalizersOf(before).includes(name));
  if (added.length > 0) story.push(`finalizer ${added.join(', ')}`);
  if (addressOf(before) !== addressOf(after)) story.push(`status: address ${addressOf(after)}`);
  return story;
}

/** The address of its load balancer, or empty. */
export function addressOf(service: Service): string {
  return (service.status?.loadBalancer?.ingress ?? []).map(({ hostname = '', ip = hostname }) => ip).join(', ');
}

function finalizersOf(service: Service): readonly string[] {
  return service.metadata?.finalizers ?? [];
}
