/** The cloud-provider contract. See ../README.md. */
export type { Clock, Logger } from './clock.ts';
export type { CallContext, CallPriority, CloudOperation } from './call-context.ts';
export type {
  BackgroundOptions,
  Capabilities,
  CloudPermissions,
  CloudProvider,
  PredecessorMetrics,
  ClusterIdentity,
  ConfigText,
  ProviderFactory,
  ProviderFactoryOptions,
  ProviderHost,
  SecretOptions,
} from './cloud-provider.ts';
export { sameOwner, type Owner } from './owner.ts';

// Errors
export { asError, CloudError, cloudErrorCodes, cloudErrorMark, effectOf, isCloudError } from './errors.ts';
export type {
  CloudErrorCode,
  CloudErrorEffect,
  CloudErrorMeaning,
  CloudErrorOptions,
  CloudErrorShape,
} from './errors.ts';

export { ANNOTATION_LENGTH, cutText, NAME_LENGTH, PROVIDER_ID_LENGTH, quote, refuseLonger } from './text-limits.ts';

export { errorCodeOfStatus } from './http-status.ts';
export { retryAfterMs } from './retry-after.ts';

// What a 404 proves
export { ClusterPlace, type ClusterPlaceOptions, type GoneMachine, type GonePart } from './cluster-place.ts';

// Machines
export type {
  Instance,
  InstanceAnswer,
  InstanceHint,
  InstanceMaintenance,
  InstanceNeed,
  InstanceResult,
  Instances,
  NodeAddress,
  NodeAddressType,
  NodeRef,
} from './instances.ts';

export { formatProviderID, parseProviderID } from './provider-id.ts';
export { adaptInstances, type OneInstance } from './adapt-instances.ts';

// Load balancers
export type { LoadBalancerFeatures, ServiceAnnotation } from './load-balancer-features.ts';
export { loadBalancerOwnerAnnotation, loadBalancerOwnerIn } from './load-balancer-service.ts';
export type { BackEnd, IPFamily, LoadBalancerService, PartName, ServicePort } from './load-balancer-service.ts';
export type { PortProtocol } from './port-protocol.ts';
export type { LoadBalancerIngress, PortStatus } from './load-balancer-status.ts';
export type {
  DesiredLoadBalancer,
  ForeignThing,
  JudgedThing,
  LoadBalancerAction,
  LoadBalancerActionResult,
  LoadBalancerObservation,
  LoadBalancerPart,
  LoadBalancerPlan,
  LoadBalancers,
  LoadBalancerVerdict,
  LoadBalancerWarning,
  PartAnswer,
  PartQuestion,
} from './load-balancers.ts';
export { adaptLoadBalancers, type AdaptLoadBalancersOptions, type OpaqueLoadBalancer } from './adapt-load-balancers.ts';

// Routes, clusters, volumes
export type { Route, RouteList, RouteRequest, RouteResult, Routes } from './routes.ts';
export type { PodRangeRequest, PodRangeResult, PodRanges } from './pod-ranges.ts';
export type { NodeTagResult, NodeTags } from './node-tags.ts';
export type { Clusters } from './clusters.ts';
export type { VolumeRef, VolumeResult, VolumeTopology } from './volume-topology.ts';

// IP addresses and ranges, in one form
export { canonicalAddress, canonicalIp, familyOf } from './ip-address.ts';
export { ADDRESS_BITS, cidrAt, contains, overlaps, parseCidr, type Cidr } from './cidr.ts';
