/** The cloud controllers. See ../README.md. */
export type { ControllerDependencies } from './controller-dependencies.ts';
export { createNodeController, type NodeController } from './node/node-controller.ts';
export type { NodeControllerDependencies, NodeControllerOptions } from './node/node-dependencies.ts';
export type { Observed, PlanOptions } from './node/observed.ts';
export { planNode } from './node/plan.ts';
export type {
  IdleReason,
  NodeAction,
  NodePlan,
  PatchObject,
  PatchStatus,
  TellEvent,
  WaitReason,
} from './node/actions.ts';
export { createRouteController, type RouteController } from './route/route-controller.ts';
export type { RouteControllerDependencies, RouteControllerOptions } from './route/route-dependencies.ts';
export { followRanges } from './route/cluster-ranges.ts';
export { planRoutes } from './route/plan.ts';
export type { CreateRoute, DeleteRoute, NodeRoutes, ObservedRoutes, RoutePlan } from './route/planned-route.ts';
export { parseClusterCidrs } from './ip/cluster-cidrs.ts';
export {
  createNodeLifecycleController,
  type NodeLifecycleController,
} from './node-lifecycle/node-lifecycle-controller.ts';
export type {
  NodeLifecycleControllerDependencies,
  NodeLifecycleControllerOptions,
} from './node-lifecycle/lifecycle-dependencies.ts';

export type { Machines } from './service/machines.ts';
export { createServiceController, type ServiceController } from './service/service-controller.ts';
export type { ServiceControllerDependencies, ServiceControllerOptions } from './service/service-dependencies.ts';
export { isReviewed, reviewService, type ServiceReview, type ServiceReviewer } from './service/review-service.ts';
export { previewServices, type PreviewedService, type PreviewOptions } from './service/preview.ts';
export { countingReconciles } from './service/reconcile-metrics.ts';
export { bringTo, type SeenParts } from './load-balancer/bring-to.ts';
export { checkPlan } from './load-balancer/check-plan.ts';
export type { ServicePlan } from './load-balancer/service-plan.ts';
export { Locks } from './load-balancer/locks.ts';
export { loadBalancerSharings, shareWithAnnotation, type LoadBalancerSharing } from './load-balancer/tenancy.ts';
export {
  adoptCondition,
  adoptionOf,
  adoptPatch,
  adoptedBy,
  askedOf,
  partNameOf,
  type Adoption,
} from './service/adoption.ts';
export { removeReasons, serveReasons } from './service/service-events.ts';
export {
  createOrphanController,
  type OrphanController,
  type OrphanControllerDependencies,
  type OrphanControllerOptions,
} from './orphans/orphan-controller.ts';
export type { OrphanPolicy } from './orphans/plan.ts';
export {
  createRangeAllocator,
  type RangeAllocator,
  type RangeAllocatorDependencies,
} from './node-ipam/range-allocator.ts';
export {
  createPvLabelController,
  type PvLabelController,
  type PvLabelControllerDependencies,
} from './pv-label/pv-label-controller.ts';
export {
  createKubeletServingApprover,
  type KubeletServingApprover,
  type KubeletServingApproverDependencies,
} from './kubelet-serving-approver/kubelet-serving-approver.ts';
export { SERVING_SIGNER } from './kubelet-serving-approver/serving-signer.ts';
export { trimServingRequest } from './kubelet-serving-approver/trim-request.ts';
export { parseUnmanagedRule, VIRTUAL_KUBELETS, type UnmanagedRule } from './unmanaged-nodes.ts';
export { labelNewVolume, type NewVolumeAnswer } from './pv-label/label-new-volume.ts';
export { volumeHandles } from './pv-label/volume-source.ts';
export { createCloudRanges, type CloudRanges, type CloudRangesDependencies } from './node-ipam/cloud-ranges.ts';
export { readIpamRanges, type IpamRangeFlags, type IpamRanges } from './node-ipam/ipam-ranges.ts';
export {
  admissionPolicyOf,
  featureTableOf,
  trustPolicyOf,
  type AdmissionPolicyOptions,
  type TrustPolicyOptions,
} from './service/admission-policy.ts';

// What each asks of the API server
export { nodeControllerRules } from './node/api-rules.ts';
export { cloudIpamRules, nodeIpamControllerRules } from './node-ipam/api-rules.ts';
export { nodeLifecycleControllerRules } from './node-lifecycle/api-rules.ts';
export { kubeletServingApproverRules } from './kubelet-serving-approver/api-rules.ts';
export { pvLabelControllerRules } from './pv-label/api-rules.ts';
export { orphanControllerRules } from './orphans/api-rules.ts';
export { routeControllerRules } from './route/api-rules.ts';
export { serviceControllerRules } from './service/api-rules.ts';
export type { Explains, Fact, Finding, Standing, StandingPart } from './finding.ts';
export type { FieldChange } from './field-changes.ts';
export {
  DELETED,
  Journal,
  type AppliedAction,
  type ControllerJournal,
  type NotedAction,
  type PlannedActions,
  type Subject,
} from './journal.ts';
