/** What the PersistentVolume label controller asks of the API server. */
import { eventRule, resources, storeRule, type ApiRule } from '@outrigger/kube';

/** Events about volumes, which have no namespace, are kept in `default`. */
export const pvLabelControllerRules: readonly ApiRule[] = [
  storeRule(resources.persistentVolumes),
  { resource: resources.persistentVolumes, verbs: ['patch'] },
  eventRule('default'),
];
