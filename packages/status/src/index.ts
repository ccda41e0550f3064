/** Whether a cluster's cloud-controller-manager does its work. See ../README.md. */
export { collectStatus, type CollectStatusOptions } from './collect-status.ts';
export { doctorCommand, leaderAccessOf, statusCommand } from './status-command.ts';
export { renderStatus, type RenderOptions } from './render-status.ts';
export type { KnownObjects } from './read-cluster.ts';
export type { LeaderAccess } from './read-leader.ts';
export type {
  BudgetStatus,
  CertificateStatus,
  CloudStatus,
  ClusterState,
  ClusterStatus,
  DeletionsStatus,
  EventsStatus,
  HealthStatus,
  LeaderStatus,
  NodesStatus,
  OrphanStatus,
  Problem,
  ProcessStatus,
  Reading,
  ReplicaCertificate,
  RoutesStatus,
  Section,
  ServicesStatus,
  WaitingNode,
  WaitingService,
  WebhookStatus,
  WorkloadStatus,
} from './cluster-status.ts';
