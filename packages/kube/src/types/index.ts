/** The kinds in use and the parts of them that get names of their own. Generated shapes; times are strings. */
import type { Event as EventsV1EventShape } from './generated/events-v1.ts';

export type {
  ConfigMap,
  ContainerImage,
  EndpointAddress,
  EndpointPort,
  EndpointSubset,
  Endpoints,
  Event as CoreEvent,
  LoadBalancerIngress,
  LoadBalancerStatus,
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
  Secret,
  Service,
  ServiceAccount,
  ServicePort,
  ServiceSpec,
  ServiceStatus,
  Taint,
  Toleration,
} from './generated/core-v1.ts';
export type { TokenRequest, TokenReview } from './generated/authentication-v1.ts';
export type { SelfSubjectAccessReview, SubjectAccessReview } from './generated/authorization-v1.ts';
export type { CertificateSigningRequest } from './generated/certificates-v1.ts';
export type { Lease, LeaseSpec } from './generated/coordination-v1.ts';
export type { EndpointSlice } from './generated/discovery-v1.ts';
export type { Condition, LabelSelector } from './generated/meta-v1.ts';
export type { IntOrString, MicroTime, Quantity, Time } from './generated/scalars.ts';
export type { CSIDriver, CSINode, StorageClass, VolumeAttachment } from './generated/storage-v1.ts';

/** `events.k8s.io/v1 Event`, what a modern recorder writes. The core one, which `kubectl` reads, is `CoreEvent`. */
export type EventsV1Event = EventsV1EventShape;
