/** The metric of actions on parts, whichever controller carries them out. */
import type { Counter, Metrics } from '@outrigger/kube';

export function createActionCounter(metrics: Metrics): Counter {
  return metrics.counter({
    name: 'outrigger_load_balancer_actions_total',
    help: 'Actions on parts of load balancers, by kind of action, kind of part and result.',
    labels: ['action', 'part', 'result'],
  });
}
