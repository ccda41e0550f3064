// Written by tools/kube-protobuf from k8s.io/api v0.37.1. Do not edit.

/** Message → fields, each `number:name:type`; what the types mean is said in `message-table.ts`. */
export const MESSAGES: Readonly<Record<string, string>> = {
  ClientIPConfig: '1:timeoutSeconds:i',
  Condition: '1:type:s 2:status:s 3:observedGeneration:i? 4:lastTransitionTime:T 5:reason:s 6:message:s',
  ConfigMapNodeConfigSource: '1:namespace:s 2:name:s 3:uid:s? 4:resourceVersion:s? 5:kubeletConfigKey:s',
  ListMeta: '1:selfLink:s? 2:resourceVersion:s? 3:continue:s? 4:remainingItemCount:i 5:shardInfo:ShardInfo',
  LoadBalancerIngress: '1:ip:s? 2:hostname:s? 3:ipMode:s 4:ports:PortStatus*',
  LoadBalancerStatus: '1:ingress:LoadBalancerIngress*',
  Node: '1:metadata:ObjectMeta 2:spec:NodeSpec 3:status:NodeStatus',
  NodeAddress: '1:type:s 2:address:s',
  NodeCondition: '1:type:s 2:status:s 3:lastHeartbeatTime:T 4:lastTransitionTime:T 5:reason:s? 6:message:s?',
  NodeConfigSource: '2:configMap:ConfigMapNodeConfigSource',
  NodePodPreemptionPolicy: '1:disableResizePreemption:s*',
  NodeSpec:
    '1:podCIDR:s? 7:podCIDRs:s* 3:providerID:s? 4:unschedulable:b? 5:taints:Taint* 6:configSource:NodeConfigSource 2:externalID:s? 8:podPreemptionPolicy:NodePodPreemptionPolicy',
  NodeStatus:
    '1:capacity:- 2:allocatable:- 3:phase:s? 4:conditions:NodeCondition* 5:addresses:NodeAddress* 6:daemonEndpoints:- 7:nodeInfo:NodeSystemInfo 8:images:- 9:volumesInUse:- 10:volumesAttached:- 11:config:- 12:runtimeHandlers:- 13:features:- 14:declaredFeatures:-',
  NodeSwapStatus: '1:capacity:i',
  NodeSystemInfo:
    '1:machineID:s 2:systemUUID:s 3:bootID:s 4:kernelVersion:s 5:osImage:s 6:containerRuntimeVersion:s 7:kubeletVersion:s 8:kubeProxyVersion:s 9:operatingSystem:s 10:architecture:s 11:swap:NodeSwapStatus 12:runningInUserNamespace:b',
  ObjectMeta:
    '1:name:s? 2:generateName:s? 3:namespace:s? 4:selfLink:s? 5:uid:s? 6:resourceVersion:s? 7:generation:i? 8:creationTimestamp:T 9:deletionTimestamp:T 10:deletionGracePeriodSeconds:i 11:labels:s% 12:annotations:s% 13:ownerReferences:OwnerReference* 14:finalizers:s* 17:managedFields:-',
  OwnerReference: '5:apiVersion:s 1:kind:s 3:name:s 4:uid:s 6:controller:b 7:blockOwnerDeletion:b',
  PortStatus: '1:port:i 2:protocol:s 3:error:s',
  Service: '1:metadata:ObjectMeta 2:spec:ServiceSpec 3:status:ServiceStatus',
  ServicePort: '1:name:s? 2:protocol:s? 6:appProtocol:s 3:port:i 4:targetPort:I 5:nodePort:i?',
  ServiceSpec:
    '1:ports:ServicePort* 2:selector:s% 3:clusterIP:s? 18:clusterIPs:s* 4:type:s? 5:externalIPs:s* 7:sessionAffinity:s? 8:loadBalancerIP:s? 9:loadBalancerSourceRanges:s* 10:externalName:s? 11:externalTrafficPolicy:s? 12:healthCheckNodePort:i? 13:publishNotReadyAddresses:b? 14:sessionAffinityConfig:SessionAffinityConfig 19:ipFamilies:s* 17:ipFamilyPolicy:s 20:allocateLoadBalancerNodePorts:b 21:loadBalancerClass:s 22:internalTrafficPolicy:s 23:trafficDistribution:s',
  ServiceStatus: '1:loadBalancer:LoadBalancerStatus 2:conditions:Condition*',
  SessionAffinityConfig: '1:clientIP:ClientIPConfig',
  ShardInfo: '1:selector:s',
  Status: '1:metadata:ListMeta 2:status:s? 3:message:s? 4:reason:s? 5:details:StatusDetails 6:code:i?',
  StatusCause: '1:reason:s? 2:message:s? 3:field:s?',
  StatusDetails: '1:name:s? 2:group:s? 3:kind:s? 6:uid:s? 4:causes:StatusCause* 5:retryAfterSeconds:i?',
  Taint: '1:key:s 2:value:s? 3:effect:s 4:timeAdded:T',
  TypeMeta: '1:apiVersion:s? 2:kind:s?',
};
