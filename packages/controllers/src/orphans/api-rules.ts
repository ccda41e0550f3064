/** What the orphan controller asks of the API server. */
import { eventRule, resources, type ApiRule } from '@outrigger/kube';
import { routeRecordReadRule } from '../route/stored-route-record.ts';
import { CLUSTER_NAMESPACE } from './live-objects.ts';

/** It reads what is there now, and watches nothing. */
export const orphanControllerRules: readonly ApiRule[] = [
  { resource: resources.services, verbs: ['list'] },
  { resource: resources.nodes, verbs: ['list'] },
  // Whether it is still this cluster's API server that says so.
  { resource: resources.namespaces, verbs: ['get'], namespace: CLUSTER_NAMESPACE, names: [CLUSTER_NAMESPACE] },
  eventRule('default'),
  routeRecordReadRule,
];
