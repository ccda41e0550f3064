/** What the node IPAM controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';

export const nodeIpamControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  // The books are opened with what the server has.
  { resource: resources.nodes, verbs: ['list', 'patch'] },
  // The network that a cloud gives with its range.
  { resource: resources.nodes, subresource: 'status', verbs: ['patch'] },
];
