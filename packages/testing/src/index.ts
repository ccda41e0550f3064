export { clientOf } from './client-of.ts';
export { FakeClock } from './fake-clock.ts';

// Embedded API server
export {
  startEmbeddedApiServer,
  type EmbeddedApiServer,
  type EmbeddedApiServerOptions,
  type EmbeddedStore,
  type ResourceName,
} from './api-server/embedded-api-server.ts';
export type { RequestRecord } from './api-server/api-handler.ts';

// Real control plane
export { startControlPlane } from './control-plane/control-plane.ts';
export { freePort } from './control-plane/free-port.ts';
export type {
  ControlPlane,
  ControlPlaneOptions,
  Kubeconfig,
  KubeconfigRequest,
} from './control-plane/control-plane-contract.ts';
export { controlPlaneOrSkip } from './control-plane/control-plane-or-skip.ts';
export { sharedControlPlane } from './control-plane/shared-control-plane.ts';
export { ControlPlaneError, type ControlPlaneErrorCode } from './control-plane/control-plane-error.ts';
export type { AuditEntry, AuditLog, AuditMark } from './control-plane/audit-log.ts';
export {
  compareAccess,
  type AccessComparison,
  type AccessObject,
  type AccessQuestion,
  type AccessRule,
} from './control-plane/compare-access.ts';
export type { Identity } from './control-plane/certificate-authority.ts';
export { ProcessGroup, type Program } from './control-plane/process-group.ts';
export {
  findBinaries,
  type BinaryMaker,
  type BinaryRequest,
  type BinarySource,
  type FindOptions,
  type FoundBinary,
} from './control-plane/find-binaries.ts';
export { downloadGoModule, type GoModule } from './control-plane/go-module.ts';
export { kubernetesProgram, type GoProgram } from './control-plane/build-binaries.ts';
export { cachedGoProgram, type CachedGoProgram, type CacheOptions } from './control-plane/cached-go-program.ts';
export {
  DEFAULT_KUBERNETES,
  parseKubernetesMinor,
  RELEASES,
  type Component,
  type KubernetesMinor,
} from './control-plane/releases.ts';

// Hollow nodes
export { hollowNode, UNINITIALIZED_TAINT, type HollowNodeOptions } from './hollow-nodes/hollow-node.ts';
export {
  startHollowNodes,
  type HollowNodeCounts,
  type HollowNodes,
  type HollowNodesOptions,
} from './hollow-nodes/start-hollow-nodes.ts';
export type { Heartbeats } from './hollow-nodes/hollow-kubelet.ts';

// Fault proxy
export { startFaultProxy, type FaultProxy, type FaultProxyOptions } from './fault-proxy/fault-proxy.ts';
export type { Fault, FaultMatch, FaultRequest, FaultRule, FaultRuleOptions } from './fault-proxy/fault.ts';
export { ApiCallRecorder, type ApiCall, type ApiCallRow } from './fault-proxy/api-call-recorder.ts';
export { requestInfoOf, type RequestInfo } from './fault-proxy/request-info.ts';
