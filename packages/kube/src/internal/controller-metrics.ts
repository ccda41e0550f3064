/** controller-runtime's metrics, which dashboards already know: https://book.kubebuilder.io/reference/metrics-reference */
import type { Counter, Metrics } from '../metrics.ts';

/** `stopped`: cut short by the end of the controller; counted nowhere else. */
type ReconcileOutcome = 'success' | 'requeue_after' | 'error' | 'terminal' | 'stopped';

export interface ControllerMetrics {
  active(workers: number): void;
  hanging(reconciles: number): void;
  finished(outcome: ReconcileOutcome, tookMs: number): void;
  held(): void;
}

/** Of the holder's controller; empty where it is not known. */
export function heldCounter(metrics: Metrics): Counter {
  return metrics.counter({
    name: 'outrigger_event_loop_held_total',
    help: 'How often the event loop was held for a second, by the controller that did it.',
    labels: ['controller'],
  });
}

const BUCKETS = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.25, 1.5, 1.75, 2,
  2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60,
];

export function createControllerMetrics(metrics: Metrics, controller: string, workers: number): ControllerMetrics {
  const labels = ['controller'];
  const total = metrics.counter({
    name: 'controller_runtime_reconcile_total',
    help: 'Reconciles by result: success, requeue_after, error.',
    labels: ['controller', 'result'],
  });
  const errors = metrics.counter({
    name: 'controller_runtime_reconcile_errors_total',
    help: 'Reconciles that failed.',
    labels,
  });
  const terminal = metrics.counter({
    name: 'controller_runtime_terminal_reconcile_errors_total',
    help: 'Reconciles that failed in a way that is not tried again.',
    labels,
  });
  const time = metrics.histogram({
    name: 'controller_runtime_reconcile_time_seconds',
    help: 'How long a reconcile took.',
    labels,
    buckets: BUCKETS,
  });
  const activeWorkers = metrics.gauge({
    name: 'controller_runtime_active_workers',
    help: 'Reconciles that run now.',
    labels,
  });
  const hanging = metrics.gauge({
    name: 'outrigger_reconciles_hanging',
    help: 'Reconciles that run for more than 5 minutes: each takes a worker, or a place to wait without one, from the others.',
    labels,
  });
  hanging.set(0, { controller });
  metrics
    .gauge({ name: 'controller_runtime_max_concurrent_reconciles', help: 'Reconciles that may run at a time.', labels })
    .set(workers, { controller });
  activeWorkers.set(0, { controller });
  const held = heldCounter(metrics);
  return {
    held: () => held.inc({ controller }),
    active: (count) => activeWorkers.set(count, { controller }),
    hanging: (count) => hanging.set(count, { controller }),
    finished: (outcome, tookMs) => {
      time.observe(tookMs / 1000, { controller });
      if (outcome === 'stopped') return;
      const failed = outcome === 'error' || outcome === 'terminal';
      total.inc({ controller, result: failed ? 'error' : outcome });
      if (failed) errors.inc({ controller });
      if (outcome === 'terminal') terminal.inc({ controller });
    },
  };
}
