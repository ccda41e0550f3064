/** What a Service asks for and the provider does not serve. Pure. */
import type { LoadBalancerFeatures, LoadBalancerService } from '@outrigger/cloud-provider';

/** In words, for one Event; empty when everything is served. A Service is never served in part. */
export function unservedOf(service: LoadBalancerService, features: LoadBalancerFeatures): readonly string[] {
  const { ports, ipFamilies, ipFamilyPolicy } = service;
  const protocols = new Set(ports.map(({ protocol }) => protocol));
  const unserved: string[] = [];
  for (const protocol of protocols) {
    if (!features.protocols.includes(protocol)) unserved.push(`protocol ${protocol}`);
  }
  if (protocols.size > 1 && !features.mixedProtocols) unserved.push('several protocols on one Service');
  for (const family of ipFamilies) {
    if (!features.ipFamilies.includes(family)) unserved.push(`IP family ${family}`);
  }
  // PreferDualStack is content with one family; the API server gives it two where the cluster has them.
  if (!features.dualStack && (ipFamilyPolicy === 'RequireDualStack' || ipFamilies.length > 1)) {
    unserved.push('two IP families on one Service');
  }
  if (service.clientIPAffinitySeconds !== undefined && !features.sessionAffinity) {
    unserved.push('sessionAffinity: ClientIP');
  }
  if (service.externalTrafficPolicy === 'Local' && !features.externalTrafficPolicyLocal) {
    unserved.push('externalTrafficPolicy: Local');
  }
  if (service.sourceRanges.length > 0 && !features.sourceRanges) unserved.push('loadBalancerSourceRanges');
  if (ports.some(({ nodePort }) => nodePort === undefined) && !features.withoutNodePorts) {
    unserved.push('ports without a node port (allocateLoadBalancerNodePorts: false)');
  }
  if (service.requestedIP !== undefined && !features.requestedIP) unserved.push('loadBalancerIP');
  return unserved;
}
