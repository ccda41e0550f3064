/** `alpha.kubernetes.io/provided-node-ip`: the kubelet's `--node-ip`, and what it means for the node's addresses. */
import { canonicalIp, familyOf, NAME_LENGTH, quote, type NodeAddress } from '@outrigger/cloud-provider';
import { providedNodeIpAnnotation } from './well-known-names.ts';

export type ProvidedNodeIps =
  | { readonly kind: 'ips'; readonly ips: readonly string[] }
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads the annotation: one address, or one of each family. Source: component-helpers `ParseNodeIPAnnotation`. */
export function parseProvidedNodeIp(annotation: string): ProvidedNodeIps {
  if (annotation.length > NAME_LENGTH) {
    const problem = `the annotation ${providedNodeIpAnnotation} has more than ${NAME_LENGTH} characters`;
    return { kind: 'invalid', problem };
  }
  const ips: string[] = [];
  for (const part of annotation.split(',')) {
    const ip = canonicalIp(part);
    if (ip === undefined) return { kind: 'invalid', problem: `${quote(part)} is not an IP address` };
    ips.push(ip);
  }
  const [first, second] = ips;
  if (ips.length > 2 || (first && second && familyOf(first) === familyOf(second))) {
    return { kind: 'invalid', problem: 'it must be one IP address, or one IPv4 and one IPv6 address' };
  }
  if (second && ips.some((ip) => ip === '0.0.0.0' || ip === '::')) {
    return { kind: 'invalid', problem: 'a pair of IP addresses cannot contain 0.0.0.0 or ::' };
  }
  return { kind: 'ips', ips };
}

export type ProvidedIpChoice =
  | { readonly kind: 'chosen'; readonly addresses: readonly NodeAddress[] }
  | { readonly kind: 'unknown-ip'; readonly ip: string };

/**
 * Puts the provided IPs first, and drops the other addresses of the types that they have: a cloud may list secondary IPs
 * that the kubelet does not listen on (kubernetes/kubernetes#61921). Source: `GetNodeAddressesFromNodeIP`.
 */
export function preferProvidedIps(ips: readonly string[], addresses: readonly NodeAddress[]): ProvidedIpChoice {
  const chosen: NodeAddress[] = [];
  for (const ip of ips) {
    const matching = addresses.filter(({ address }) => canonicalIp(address) === ip);
    if (matching.length === 0) return { kind: 'unknown-ip', ip };
    chosen.push(...matching);
  }
  const types = new Set(chosen.map(({ type }) => type));
  return { kind: 'chosen', addresses: [...chosen, ...addresses.filter(({ type }) => !types.has(type))] };
}
