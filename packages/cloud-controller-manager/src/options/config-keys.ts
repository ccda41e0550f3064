/**
 * `CloudControllerManagerConfiguration` (cloudcontrollermanager.config.k8s.io/v1alpha1): where each flag stands in it.
 * Upstream serves it at `/configz` with the names of Go's fields; `--config` reads the same.
 */

/** One value of the configuration. */
export interface ConfigKey {
  /** With Go's names, for example `['KubeCloudShared', 'ClusterCIDR']`. */
  readonly path: readonly string[];
  /** The flag's name. Without one, upstream has the field and nothing sets it. */
  readonly flag?: string;
  /** What is shown where there is no flag. */
  readonly fixed?: unknown;
}

const key = (path: string, flag: string): ConfigKey => ({ path: path.split('.'), flag });
const fixed = (path: string, value: unknown): ConfigKey => ({ path: path.split('.'), fixed: value });

export const API_GROUP = 'cloudcontrollermanager.config.k8s.io';
export const API_VERSION: string = `${API_GROUP}/v1alpha1`;
export const KIND = 'CloudControllerManagerConfiguration';

/** In upstream's order. */
export const configKeys: readonly ConfigKey[] = [
  // Of the insecure listener that was removed: `--secure-port` and `--bind-address` are not in this configuration.
  fixed('Generic.Port', 0),
  fixed('Generic.Address', '0.0.0.0'),
  key('Generic.MinResyncPeriod', 'min-resync-period'),
  key('Generic.ClientConnection.kubeconfig', 'kubeconfig'),
  fixed('Generic.ClientConnection.acceptContentTypes', ''),
  key('Generic.ClientConnection.contentType', 'kube-api-content-type'),
  key('Generic.ClientConnection.qps', 'kube-api-qps'),
  key('Generic.ClientConnection.burst', 'kube-api-burst'),
  key('Generic.ControllerStartInterval', 'controller-start-interval'),
  key('Generic.LeaderElection.leaderElect', 'leader-elect'),
  key('Generic.LeaderElection.leaseDuration', 'leader-elect-lease-duration'),
  key('Generic.LeaderElection.renewDeadline', 'leader-elect-renew-deadline'),
  key('Generic.LeaderElection.retryPeriod', 'leader-elect-retry-period'),
  key('Generic.LeaderElection.resourceLock', 'leader-elect-resource-lock'),
  key('Generic.LeaderElection.resourceName', 'leader-elect-resource-name'),
  key('Generic.LeaderElection.resourceNamespace', 'leader-elect-resource-namespace'),
  key('Generic.Controllers', 'controllers'),
  key('Generic.Debugging.enableProfiling', 'profiling'),
  key('Generic.Debugging.enableContentionProfiling', 'contention-profiling'),
  key('Generic.LeaderMigrationEnabled', 'enable-leader-migration'),
  fixed('Generic.LeaderMigration.leaderName', ''),
  fixed('Generic.LeaderMigration.resourceLock', ''),
  fixed('Generic.LeaderMigration.controllerLeaders', null),
  key('KubeCloudShared.CloudProvider.Name', 'cloud-provider'),
  key('KubeCloudShared.CloudProvider.CloudConfigFile', 'cloud-config'),
  key('KubeCloudShared.ExternalCloudVolumePlugin', 'external-cloud-volume-plugin'),
  key('KubeCloudShared.UseServiceAccountCredentials', 'use-service-account-credentials'),
  fixed('KubeCloudShared.AllowUntaggedCloud', false),
  key('KubeCloudShared.RouteReconciliationPeriod', 'route-reconciliation-period'),
  key('KubeCloudShared.ClusterName', 'cluster-name'),
  key('KubeCloudShared.ClusterCIDR', 'cluster-cidr'),
  key('KubeCloudShared.AllocateNodeCIDRs', 'allocate-node-cidrs'),
  key('KubeCloudShared.CIDRAllocatorType', 'cidr-allocator-type'),
  key('KubeCloudShared.ConfigureCloudRoutes', 'configure-cloud-routes'),
  fixed('KubeCloudShared.NodeSyncPeriod', '0s'),
  key('NodeController.ConcurrentNodeSyncs', 'concurrent-node-syncs'),
  key('NodeController.ConcurrentNodeStatusUpdates', 'concurrent-node-status-updates'),
  key('NodeLifecycleController.NodeMonitorPeriod', 'node-monitor-period'),
  key('NodeLifecycleController.ConcurrentNodeLifecycleSyncs', 'concurrent-node-lifecycle-syncs'),
  key('ServiceController.ConcurrentServiceSyncs', 'concurrent-service-syncs'),
  key('NodeStatusUpdateFrequency', 'node-status-update-frequency'),
  key('Webhook.Webhooks', 'webhooks'),
];

/** What upstream's type does not have: read from `--config`, and shown at `/flagz` alone, as all such flags. */
export const ownKeys: readonly ConfigKey[] = [
  key('Outrigger.CloudCallLimits', 'cloud-call-limits'),
  key('Outrigger.Verbosity', 'v'),
];

/** Where a flag's value stood before Kubernetes 1.37: still read from `--config`, and not shown. */
export const formerKeys: readonly ConfigKey[] = [key('KubeCloudShared.NodeMonitorPeriod', 'node-monitor-period')];

/** `CIDRAllocatorType` → `cidrAllocatorType`, `ClusterCIDR` → `clusterCIDR`: as Kubernetes' versioned types write them. */
export function toLowerCamelCase(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]/u, (head) => head.toLowerCase());
}
