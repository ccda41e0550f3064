/** What prometheus-operator is told: whom to scrape, and when to tell somebody. */
import { OBJECT_NAME } from '../../rbac/object-name.ts';
import { NAMESPACE, podLabels } from '../pod-template.ts';
import { alerts, JOB } from './alerts.ts';

/** Where the pages of `docs/runbooks/` are. */
const RUNBOOKS = 'https://outrigger.dev/docs/runbooks';

/** Prometheus knows its targets by a Service: it has no address of its own, and nobody is sent through it. */
export function scrapeService(): object {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: named(JOB),
    spec: {
      clusterIP: 'None',
      // Replicas that are not ready have the most to tell.
      publishNotReadyAddresses: true,
      selector: podLabels,
      ports: [{ name: 'https', port: 10_258, targetPort: 'https', protocol: 'TCP' }],
    },
  };
}

export function serviceMonitor(): object {
  const endpoint = {
    port: 'https',
    scheme: 'https',
    interval: '30s',
    bearerTokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token',
    // The certificate is self-signed unless --tls-cert-file names another.
    tlsConfig: { insecureSkipVerify: true },
    // Two pages of one pod are two targets: without it their own series (`up`) would be one.
    relabelings: [{ action: 'replace', sourceLabels: ['__metrics_path__'], targetLabel: 'metrics_path' }],
  };
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: named(OBJECT_NAME),
    spec: {
      selector: { matchLabels: podLabels },
      namespaceSelector: { matchNames: [NAMESPACE] },
      endpoints: [
        { ...endpoint, path: '/metrics' },
        { ...endpoint, path: '/metrics/slis' },
      ],
    },
  };
}

/** To be bound to the account that Prometheus has. */
export function metricsReader(): object {
  return {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name: `${OBJECT_NAME}:metrics-reader` },
    rules: [{ nonResourceURLs: ['/metrics', '/metrics/slis'], verbs: ['get'] }],
  };
}

/** `spec.groups`. */
function ruleGroups(): readonly object[] {
  return [
    {
      name: 'outrigger',
      rules: alerts.map(({ name, expr, for: holds, severity, summary }) => ({
        alert: name,
        expr,
        for: holds,
        labels: { severity },
        annotations: { summary, runbook_url: `${RUNBOOKS}/${name}.md` },
      })),
    },
  ];
}

export function prometheusRule(): object {
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PrometheusRule',
    metadata: named(OBJECT_NAME),
    spec: { groups: ruleGroups() },
  };
}

function named(name: string): { readonly name: string; readonly namespace: string; readonly labels: object } {
  return { name, namespace: NAMESPACE, labels: podLabels };
}
