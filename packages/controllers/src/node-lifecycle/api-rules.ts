/** What the node lifecycle controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';

export const nodeLifecycleControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  { resource: resources.nodes, verbs: ['patch', 'delete'] },
];
