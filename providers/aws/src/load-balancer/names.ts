/** Names that follow from the owner: what was made twice is found to be there, and a Service of which the UID alone is known finds its parts. */
import { createHash } from 'node:crypto';

/** What AWS allows of a load balancer and of a target group. */
const MOST = 32;
const UPSTREAM_PART = 8;

/** As cloud-provider-aws names it, of both APIs. */
export function loadBalancerName(uid: string): string {
  return `a${uid.replaceAll('-', '')}`.slice(0, MOST);
}

/** Of a load balancer that was named so for some Service. */
export const isLoadBalancerName = (name: string): boolean => /^a[0-9a-f]{31}$/u.test(name);

/** Whether AWS gave this DNS name to a load balancer of the Service, ours or cloud-provider-aws'. */
export const isHostNameOf = (uid: string, hostname: string): boolean =>
  hostname.replace(/^internal-/u, '').startsWith(`${loadBalancerName(uid)}-`);

/** What the names of all target groups of a Service begin with. */
export function targetGroupPrefix(uid: string): string {
  const hash = hashOf(uid);
  return `k8s-${hash.slice(0, 8)}-${hash.slice(8, 16)}-`;
}

export function targetGroupName(uid: string, key: string): string {
  return targetGroupPrefix(uid) + hashOf(key).slice(0, 10);
}

/** Ours, and those of cloud-provider-aws: `k8s-<namespace>-<name>-<hash>`. */
export const isTargetGroupName = (name: string): boolean =>
  /^k8s-[0-9A-Za-z]{0,8}-[0-9A-Za-z]{0,8}-[0-9a-f]{10}$/u.test(name);

/** What cloud-provider-aws lets the names of a Service's target groups begin with. Another cluster's may begin so too. */
export function predecessorPrefix({ name, namespace }: { readonly name: string; readonly namespace: string }): string {
  const part = (text: string): string => text.replaceAll(/[^0-9A-Za-z]/gu, '').slice(0, UPSTREAM_PART);
  return `k8s-${part(namespace)}-${part(name)}-`;
}

/** In hexadecimal digits, of any text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
