/** What every controller of nodes asks of the API server, besides its own writes. */
import { eventRule, resources, storeRule, type ApiRule } from '@outrigger/kube';

/** The store of nodes; a node as the server has it when a write was refused; Events about nodes, which have no namespace. */
export const nodeRules: readonly ApiRule[] = [
  storeRule(resources.nodes),
  { resource: resources.nodes, verbs: ['get'] },
  eventRule('default'),
];
