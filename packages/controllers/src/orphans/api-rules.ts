/** What the orphan controller asks of the API server. */
import { eventRule, resources, type ApiRule } from '@outrigger/kube';

/** It reads what is there now, and watches nothing. */
export const orphanControllerRules: readonly ApiRule[] = [
  { resource: resources.services, verbs: ['list'] },
  { resource: resources.nodes, verbs: ['list'] },
  eventRule('default'),
];
