import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderConfigz } from './configz.ts';
import { readProgramOptions } from '../options/program-options.ts';

/** What upstream v0.37.1 serves for the flags below. */
const UPSTREAM = {
  kind: 'CloudControllerManagerConfiguration',
  apiVersion: 'cloudcontrollermanager.config.k8s.io/v1alpha1',
  Generic: {
    Port: 0,
    Address: '0.0.0.0',
    MinResyncPeriod: '12h0m0s',
    ClientConnection: {
      kubeconfig: 'PATH',
      acceptContentTypes: '',
      contentType: 'application/vnd.kubernetes.protobuf',
      qps: 20,
      burst: 30,
    },
    ControllerStartInterval: '0s',
    LeaderElection: {
      leaderElect: true,
      leaseDuration: '15s',
      renewDeadline: '10s',
      retryPeriod: '2s',
      resourceLock: 'leases',
      resourceName: 'cloud-controller-manager',
      resourceNamespace: 'kube-system',
    },
    Controllers: ['*'],
    Debugging: { enableProfiling: true, enableContentionProfiling: false },
    LeaderMigrationEnabled: false,
    LeaderMigration: { leaderName: '', resourceLock: '', controllerLeaders: null },
  },
  KubeCloudShared: {
    CloudProvider: { Name: 'simcloud', CloudConfigFile: '' },
    ExternalCloudVolumePlugin: '',
    UseServiceAccountCredentials: false,
    AllowUntaggedCloud: false,
    RouteReconciliationPeriod: '10s',
    ClusterName: 'bench',
    ClusterCIDR: '10.128.0.0/9',
    AllocateNodeCIDRs: true,
    CIDRAllocatorType: 'RangeAllocator',
    ConfigureCloudRoutes: true,
    NodeSyncPeriod: '0s',
  },
  NodeController: { ConcurrentNodeSyncs: 1, ConcurrentNodeStatusUpdates: 1 },
  NodeLifecycleController: { NodeMonitorPeriod: '5s', ConcurrentNodeLifecycleSyncs: 1 },
  ServiceController: { ConcurrentServiceSyncs: 1 },
  NodeStatusUpdateFrequency: '5m0s',
  Webhook: { Webhooks: null },
};

test('for the same flags it is what upstream serves, key by key', () => {
  const options = readProgramOptions([
    '--cloud-provider=simcloud',
    '--cluster-name=bench',
    '--cluster-cidr=10.128.0.0/9',
    '--allocate-node-cidrs',
    '--kubeconfig=PATH',
    '--kube-api-qps=20',
    '--kube-api-burst=30',
    '--kube-api-content-type=application/vnd.kubernetes.protobuf',
    '--concurrent-node-syncs=1',
    '--concurrent-node-status-updates=1',
    '--concurrent-service-syncs=1',
    '--route-reconciliation-period=10s',
  ]);
  assert.deepEqual(renderConfigz(options), { 'cloudcontrollermanager.config.k8s.io': UPSTREAM });
});
