/** What the service controller asks of the API server. */
import { eventRule, resources, storeRule, type ApiRule } from '@outrigger/kube';

export const serviceControllerRules: readonly ApiRule[] = [
  storeRule(resources.nodes),
  storeRule(resources.services),
  // Finalizer and annotations too: whoever may patch Services could send their traffic elsewhere.
  { resource: resources.services, subresource: 'status', verbs: ['patch'] },
  eventRule(),
];
