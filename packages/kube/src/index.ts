/** The Kubernetes API: client, reflector, store, workqueue, controller, events, leases. See ../README.md. */

// Time, logs, metrics
export { sleepOn, systemClock, type Clock, type Timer } from './clock.ts';
export { deadlineSignal, withDeadline, type Deadline } from './deadline.ts';
export { KnownSecrets } from './known-secrets.ts';
export { asError } from './as-error.ts';
export { onAbort, raceAbort, whenAborted } from './abort.ts';
export { whyUnreadable } from './read-failure.ts';
export { TimeSlice } from './time-slice.ts';
export { systemRandom } from './system-random.ts';
export { silentLogger, type LogFields, type Logger } from './logger.ts';
export {
  exponentialBuckets,
  noMetrics,
  type Counter,
  type Gauge,
  type Histogram,
  type Labels,
  type MetricDefinition,
  type Metrics,
} from './metrics.ts';

// Objects and resources
export { keyOf, keyOfObject, refOf } from './kube-object.ts';
export type {
  KubeObject,
  ObjectKey,
  ObjectMeta,
  ObjectRef,
  OwnerReference,
  PartialObjectMetadata,
} from './kube-object.ts';
export { apiVersionOf, metadataOf, pathOf, type Resource } from './resource.ts';
export { resources } from './resources.ts';
export type {
  Condition,
  CertificateSigningRequest,
  ConfigMap,
  ContainerImage,
  CoreEvent,
  CSIDriver,
  CSINode,
  EndpointAddress,
  EndpointPort,
  Endpoints,
  EndpointSlice,
  EndpointSubset,
  EventsV1Event,
  IntOrString,
  LabelSelector,
  Lease,
  LeaseSpec,
  LoadBalancerIngress,
  LoadBalancerStatus,
  MicroTime,
  Namespace,
  Node,
  NodeAddress,
  NodeCondition,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  NodeSpec,
  NodeStatus,
  ObjectReference,
  PersistentVolume,
  PersistentVolumeClaim,
  PersistentVolumeSpec,
  Pod,
  PodSpec,
  PodStatus,
  Quantity,
  Secret,
  SelfSubjectAccessReview,
  Service,
  ServiceAccount,
  ServicePort,
  ServiceSpec,
  ServiceStatus,
  StorageClass,
  SubjectAccessReview,
  Taint,
  Time,
  TokenRequest,
  TokenReview,
  Toleration,
  VolumeAttachment,
} from './types/index.ts';

// Configuration and transport
export { loadConfig, type LoadConfigOptions } from './config/load-config.ts';
export type { OnSecret } from './config/register-secrets.ts';
export {
  NODES_GROUP,
  type ClusterConfig,
  type PemSource,
  type ReadFile,
  type TlsConfig,
} from './config/cluster-config.ts';
export { ConfigError, isConfigError, type ConfigErrorCode } from './config/config-error.ts';
export {
  anonymous,
  bearerToken,
  staticCredentials,
  type ClientCertificate,
  type Credential,
  type Credentials,
} from './config/credentials.ts';
export { requestedToken, type RequestedTokenOptions } from './config/requested-token.ts';
export { ExecPluginError, isExecPluginError, type ExecPluginErrorCode } from './config/exec-credentials.ts';
export type { ExecPluginResult, ExecPluginRun, RunExecPlugin } from './config/exec-plugin.ts';
export type {
  RequestHeaders,
  TrafficClass,
  Transport,
  TransportLayer,
  TransportRequest,
  TransportResponse,
} from './transport.ts';
export { createTransport, type CreateTransportOptions } from './transport/create-transport.ts';
export {
  isTransportError,
  TransportError,
  type TransportErrorCode,
  type TransportErrorOptions,
} from './transport/transport-error.ts';
export { discardAnswer, layerOver, stackLayers, withRequestHeaders } from './transport/transport-layer.ts';
export { CONTROLLER_SUFFIX, userAgent, type UserAgentOptions } from './transport/user-agent.ts';
export { withRateLimit, type RateLimitOptions } from './transport/with-rate-limit.ts';
export { withRetry, type RetryOptions } from './transport/with-retry.ts';
export { REQUEST_CHANNEL, type RequestTrace } from './transport/with-tracing.ts';

// Client
export { createClient, type ClientOptions } from './create-client.ts';
export type { WarningHook } from './resource-client.ts';
export { isResponseError, ResponseError } from './response-body.ts';
export {
  isAlreadyExists,
  isBadRequest,
  isConflict,
  isExpired,
  isForbidden,
  isInvalid,
  isNotFound,
  isResourceVersionTooLarge,
  isStatusError,
  isTooManyRequests,
  isUnauthorized,
  StatusError,
  type Status,
  type StatusCause,
  type StatusDetails,
  type StatusReason,
} from './status-error.ts';
export type {
  CallOptions,
  Client,
  DeleteOptions,
  JsonPatchOperation,
  ListOptions,
  ListPage,
  Patch,
  ResourceClient,
  Selectors,
  SmallAnswer,
  WatchEvent,
  WatchOptions,
  WriteOptions,
} from './client.ts';

// Reflector and store
export { openStore, Stores, type OpenStoreOptions, type StoreEnvironment, type StoreOptions } from './open-store.ts';
export type { Indexer, ResourceEvent, ResourceEventHandler, Store } from './store.ts';
export type { Indexers, IndexFunc } from './store-contents.ts';
export { defaultTransform, trimManagedFields, trimNode, type Transform } from './transform.ts';
export { WatchListMemory } from './watch-list-memory.ts';
export { reflector, type ReflectorEvent, type ReflectorFailure, type ReflectorOptions } from './reflector.ts';

// Workqueue, controller, events
export { createWorkQueue, type AddOptions, type WorkQueue, type WorkQueueOptions } from './workqueue.ts';
export {
  defaultRateLimiter,
  exponentialBackoff,
  slowestOf,
  tokenBucket,
  type ExponentialBackoffOptions,
  type RateLimiter,
} from './rate-limiter.ts';
export {
  runController,
  type ControllerOptions,
  type ReconcileContext,
  type Reconciler,
  type ReconcileResult,
} from './controller.ts';
export type { ParkingOptions } from './internal/parking.ts';
export { heldAs, watchEventLoop, type EventLoopWatchOptions, type HeldAsOptions } from './event-loop-watch.ts';
export { sameHolder, type AsHolder } from './internal/loop-holders.ts';
export { isTerminalError, TerminalError } from './terminal-error.ts';
export {
  createEventRecorder,
  kubeSystem,
  type EventRecorder,
  type EventRecorderOptions,
  type RunningEventRecorder,
} from './event-recorder.ts';
export type { EventNote } from './event-note.ts';

// Leader election
export { LeaderElector, leaderIdentity, type LeaderElectorOptions } from './leader-elector.ts';
export { isNotLeaderError, NotLeaderError, type Leadership } from './leadership.ts';
export { fence } from './fence.ts';

// Dry run
export { readOnly, ReadOnlyError } from './read-only.ts';

// What has to be granted
export { eventRule, leaseRules, storeRule, tokenRules, type ApiRule, type ApiVerb } from './api-rule.ts';
