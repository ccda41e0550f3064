/** Names of security groups, as cloud-provider-aws has them: by these a Service's is found when it is taken over, and handed back. */
import { createHash } from 'node:crypto';
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { loadBalancerName } from '../names.ts';

export function classicGroupName({ uid }: Pick<LoadBalancerService, 'uid'>): string {
  return `k8s-elb-${loadBalancerName(uid)}`;
}

/** Upstream's with `NLBSecurityGroupMode = Managed`. */
export function nlbGroupName(
  { name, namespace, uid }: Pick<LoadBalancerService, 'name' | 'namespace' | 'uid'>,
  clusterName: string,
): string {
  const hash = createHash('sha256').update(`${clusterName}${name}${namespace}${uid}`).digest('hex');
  const plain = (text: string): string => text.replaceAll(/[^A-Za-z0-9]/gu, '').slice(0, 8);
  return `k8s-${plain(namespace)}-${plain(name)}-${hash.slice(0, 10)}`;
}

/** One a cluster and VPC. */
export function sharedGroupName(clusterId: string): string {
  return `k8s-outrigger-${createHash('sha256').update(clusterId).digest('hex').slice(0, 16)}`;
}
