/** The pod in which the program runs in a cluster, whoever keeps it running. */
import { OBJECT_NAME } from '../rbac/object-name.ts';
import { version } from '../program/version.ts';

export const NAMESPACE = 'kube-system';
/** Key of the Secret with the cloud config, and where it is mounted. */
export const CONFIG_SECRET: string = `${OBJECT_NAME}-config`;
export const CONFIG_KEY = 'cloud.conf';
const CONFIG_DIRECTORY = '/etc/outrigger';

/** Upstream's port of the program. */
const PORT = 10_258;
/** Who is nobody in distroless images. */
const NOBODY = 65_532;

/** The labels by which its pods are known. */
export const podLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': OBJECT_NAME,
  'app.kubernetes.io/component': 'cloud-controller-manager',
};

/** The flags with which the shipped manifests run it. */
export const shippedArgs: readonly string[] = [
  '--cloud-provider=memory',
  `--cloud-config=${CONFIG_DIRECTORY}/${CONFIG_KEY}`,
  '--cluster-name=kubernetes',
  '--v=2',
];

/** `spec.template` of the DaemonSet or Deployment. `affinity`: where it may run besides what its tolerations say. */
export function podTemplate(affinity: object): object {
  return {
    metadata: { labels: podLabels },
    spec: {
      serviceAccountName: OBJECT_NAME,
      priorityClassName: 'system-cluster-critical',
      // Before the nodes are initialised there may be neither a pod network nor a cluster DNS.
      hostNetwork: true,
      dnsPolicy: 'Default',
      affinity,
      tolerations,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: NOBODY,
        runAsGroup: NOBODY,
        fsGroup: NOBODY,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      // The lease is given back, and what is in flight ends.
      terminationGracePeriodSeconds: 30,
      containers: [
        {
          name: 'cloud-controller-manager',
          image: `registry.example/outrigger/cloud-controller-manager:${version}`,
          args: shippedArgs,
          ports: [{ name: 'https', containerPort: PORT, protocol: 'TCP' }],
          startupProbe: { ...probe('/livez'), periodSeconds: 2, failureThreshold: 60 },
          livenessProbe: { ...probe('/livez'), periodSeconds: 10, timeoutSeconds: 15, failureThreshold: 8 },
          readinessProbe: { ...probe('/readyz'), periodSeconds: 10, timeoutSeconds: 15 },
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '512Mi' } },
          securityContext: {
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
            readOnlyRootFilesystem: true,
          },
          volumeMounts: [{ name: 'cloud-config', mountPath: CONFIG_DIRECTORY, readOnly: true }],
        },
      ],
      volumes: [{ name: 'cloud-config', secret: { secretName: CONFIG_SECRET, defaultMode: 0o440 } }],
    },
  };
}

/**
 * What a node is tainted with before this program has been there, and what keeps others off the control plane. The last: Cluster
 * API's bootstrap removes it once the node has a provider ID, which it gets from this program (kubernetes-sigs/cluster-api#8357).
 */
const tolerations: readonly object[] = [
  { key: 'node.cloudprovider.kubernetes.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists' },
  { key: 'node.kubernetes.io/network-unavailable', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node-role.kubernetes.io/control-plane', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.cluster.x-k8s.io/uninitialized', operator: 'Exists', effect: 'NoSchedule' },
];

function probe(path: string): object {
  return { httpGet: { scheme: 'HTTPS', port: 'https', path } };
}
