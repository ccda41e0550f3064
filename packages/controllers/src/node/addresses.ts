/** Which addresses a node gets: the cloud's, shaped by what the kubelet has said. Pure. */
import type { NodeAddress } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { parseProvidedNodeIp, preferProvidedIps } from './provided-node-ip.ts';
import { providedNodeIpAnnotation } from './well-known-names.ts';

/** An address as the API has it: a later Kubernetes may know more types than the contract does. */
export interface StatusAddress {
  readonly type: string;
  readonly address: string;
}

/**
 * - `known`: what `status.addresses` is to be, whole.
 * - `unknown`: the cloud gave none. What the node has stays: empty never wipes.
 * - `refused`: the kubelet's IP is not among them, or the annotation cannot be read. What the node has stays.
 */
export type WantedAddresses =
  | { readonly kind: 'known'; readonly addresses: readonly StatusAddress[] }
  | { readonly kind: 'unknown' }
  | { readonly kind: 'refused'; readonly problem: string };

/** The addresses for this node, given the cloud's. */
export function wantedAddresses(node: Node, cloud: readonly NodeAddress[] = []): WantedAddresses {
  const usable = cloud.filter(({ address }) => address !== '');
  const annotation = node.metadata?.annotations?.[providedNodeIpAnnotation];
  const all = [...usable, ...keptHostnames(node, usable)];
  if (annotation === undefined) {
    return usable.length === 0 ? { kind: 'unknown' } : { kind: 'known', addresses: withoutDuplicates(all) };
  }
  const provided = parseProvidedNodeIp(annotation);
  if (provided.kind === 'invalid') return { kind: 'refused', problem: provided.problem };
  if (usable.length === 0) {
    return { kind: 'refused', problem: `the cloud returned no address, so ${annotation} cannot be checked` };
  }
  const choice = preferProvidedIps(provided.ips, all);
  return choice.kind === 'chosen'
    ? { kind: 'known', addresses: withoutDuplicates(choice.addresses) }
    : {
        kind: 'refused',
        problem: `${choice.ip} is not among the addresses that the cloud returned (${listed(usable)})`,
      };
}

/** Whether a node has an IP address of its own, whoever wrote it. */
export function hasIpAddress(node: Node): boolean {
  return (node.status?.addresses ?? []).some(({ type }) => type === 'InternalIP' || type === 'ExternalIP');
}

/**
 * Whether two lists say the same: for each type the same addresses in the same order. The first one of a type is the one
 * that is used, so that order counts; the order of the types does not. (Upstream compares one address of each type only,
 * and so writes the status of each dual-stack node in each pass.)
 */
export function sameAddresses(a: readonly StatusAddress[], b: readonly StatusAddress[]): boolean {
  if (a.length !== b.length) return false;
  const byType = (list: readonly StatusAddress[]): Map<string, readonly StatusAddress[]> =>
    Map.groupBy(list, ({ type }) => type);
  const [left, right] = [byType(a), byType(b)];
  return [...left].every(([type, addresses]) => {
    const others = right.get(type) ?? [];
    return addresses.length === others.length && addresses.every(({ address }, i) => address === others[i]?.address);
  });
}

/** The kubelet knows its host name best; a cloud that gives one overrides it. */
function keptHostnames(node: Node, cloud: readonly NodeAddress[]): readonly NodeAddress[] {
  if (cloud.some(({ type }) => type === 'Hostname')) return [];
  return (node.status?.addresses ?? [])
    .filter(({ type }) => type === 'Hostname')
    .map(({ address }) => ({ type: 'Hostname', address }));
}

function withoutDuplicates(addresses: readonly NodeAddress[]): readonly NodeAddress[] {
  const seen = new Set<string>();
  return addresses
    .filter(({ type, address }) => {
      const key = `${type} ${address}`;
      return !seen.has(key) && seen.add(key);
    })
    .map(({ type, address }) => ({ type, address }));
}

function listed(addresses: readonly NodeAddress[]): string {
  return addresses.map(({ type, address }) => `${type} ${address}`).join(', ');
}
