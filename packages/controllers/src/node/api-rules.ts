/** What the node controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';

export const nodeControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  { resource: resources.nodes, verbs: ['patch'] },
  { resource: resources.nodes, subresource: 'status', verbs: ['patch'] },
];
