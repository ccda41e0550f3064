/** Metrics of the approver of kubelet serving certificates. */
import type { Counter, Gauge, Metrics } from '@outrigger/kube';
import type { DenyReason } from './plan.ts';

const DENY_REASONS: readonly DenyReason[] = [
  'foreign-name',
  'unreadable',
  'wrong-group',
  'wrong-names',
  'wrong-subject',
  'wrong-usages',
];

export interface ApproverMetrics {
  readonly decided: Counter;
  readonly pending: Gauge;
}

export function createApproverMetrics(metrics: Metrics): ApproverMetrics {
  const decided = metrics.counter({
    name: 'outrigger_kubelet_serving_requests_total',
    help: 'Certificate signing requests of kubelets for their serving certificates that were approved or denied, and why they were denied.',
    labels: ['result', 'reason'],
  });
  // From the start, or the first denial would be no increase to Prometheus.
  for (const reason of DENY_REASONS) decided.inc({ result: 'denied', reason }, 0);
  return {
    decided,
    pending: metrics.gauge({
      name: 'outrigger_kubelet_serving_requests_pending',
      help: 'Certificate signing requests of kubelets for their serving certificates that stay pending, by what is not known.',
      labels: ['reason'],
    }),
  };
}
