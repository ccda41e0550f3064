import { section, stringAt, valueAt } from './api-object.ts';
import type { KindRules } from './kind-rules.ts';

/** Pods as controllers see them. No scheduling, no validation of containers. */
export const podRules: KindRules = {
  generation: true,
  statusOnCreate: 'drop',
  prepareCreate: (pod) => {
    pod['status'] = { phase: 'Pending', qosClass: 'BestEffort' };
    section(pod, 'spec')['terminationGracePeriodSeconds'] ??= 30;
    return [];
  },
  // A pod on a node waits for its kubelet, which deletes it with a grace period of 0.
  gracePeriodSeconds: (pod) => {
    if (stringAt(pod, 'spec', 'nodeName') === '') return 0;
    const seconds = valueAt(pod, 'spec', 'terminationGracePeriodSeconds');
    return typeof seconds === 'number' ? seconds : 30;
  },
};
