/** What the node IPAM controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';

export const nodeIpamControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  { resource: resources.nodes, verbs: ['patch'] },
];
