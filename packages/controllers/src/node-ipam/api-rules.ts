/** What the node IPAM controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';

export const nodeIpamControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  // The books are opened with what the server has.
  { resource: resources.nodes, verbs: ['list', 'patch'] },
];

/** Besides, where ranges come from the cloud: the network is there as soon as its range is, and the node says so. */
export const cloudIpamRules: readonly ApiRule[] = [
  { resource: resources.nodes, subresource: 'status', verbs: ['patch'] },
];
