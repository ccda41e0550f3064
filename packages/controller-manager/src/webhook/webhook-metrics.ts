/** What is counted of the webhooks, by upstream's names. */
import type { Metrics } from '@outrigger/kube';

const LABELS = ['code', 'webhook'] as const;

export interface WebhookMetrics {
  /** `code`: the HTTP status. */
  observe(webhook: string, code: number, durationMs: number): void;
}

/** `subsystem`: the names begin with it, `cloud_provider_webhook`. */
export function createWebhookMetrics(metrics: Metrics, subsystem: string): WebhookMetrics {
  const total = metrics.counter({
    name: `${subsystem}_request_total`,
    help: 'Requests to the webhooks.',
    labels: LABELS,
  });
  const duration = metrics.histogram({
    name: `${subsystem}_request_duration_seconds`,
    help: 'Time from a request to a webhook to its answer.',
    labels: LABELS,
    buckets: [0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10],
  });
  return {
    observe: (webhook, status, durationMs) => {
      const labels = { code: String(status), webhook };
      total.inc(labels);
      duration.observe(durationMs / 1000, labels);
    },
  };
}
