/** The pod CIDRs of a node. */
import type { Node } from '@outrigger/kube';

/** `spec.podCIDRs`, or `spec.podCIDR` where only that is set. */
export function podCidrsOf(node: Node): readonly string[] {
  const { podCIDRs = [], podCIDR = '' } = node.spec ?? {};
  return podCIDRs.length === 0 && podCIDR !== '' ? [podCIDR] : podCIDRs;
}
