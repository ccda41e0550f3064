/** What the route controller asks of the API server. */
import { resources, type ApiRule } from '@outrigger/kube';
import { nodeRules } from '../node-rules.ts';
import { routeRecordRules } from './stored-route-record.ts';

export const routeControllerRules: readonly ApiRule[] = [
  ...nodeRules,
  // Before a route is deleted.
  { resource: resources.nodes, verbs: ['list'] },
  { resource: resources.nodes, subresource: 'status', verbs: ['patch'] },
  ...routeRecordRules,
];
