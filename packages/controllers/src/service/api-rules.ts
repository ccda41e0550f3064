/** What the service controller asks of the API server. */
import { eventRule, resources, storeRule, type ApiRule } from '@outrigger/kube';

export const serviceControllerRules: readonly ApiRule[] = [
  storeRule(resources.nodes),
  storeRule(resources.services),
  // Finalizer and annotations too: whoever may patch Services could send their traffic elsewhere.
  { resource: resources.services, subresource: 'status', verbs: ['patch'] },
  // Of one Service, for its managedFields, which the store does not keep.
  { resource: resources.services, verbs: ['list'] },
  eventRule(),
];
