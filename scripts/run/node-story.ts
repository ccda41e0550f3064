/** What became visible about a node, told from two states of its object. Pure, so that the story can be tested. */
import type { Node, NodeCondition } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';

/** Labels that a cloud gives; the beta twins are left out of the story. */
const LABELS = {
  type: 'node.kubernetes.io/instance-type',
  zone: 'topology.kubernetes.io/zone',
  region: 'topology.kubernetes.io/region',
} as const;
export type CloudLabel = keyof typeof LABELS;
export const CLOUD_LABELS: readonly CloudLabel[] = ['type', 'zone', 'region'];

/** Sentences about the difference; `before` is undefined when the node is seen for the first time. */
export function tellNode(before: Node | undefined, after: Node): readonly string[] {
  if (before === undefined) {
    return [
      `registered by its kubelet: ${isTainted(after) ? 'tainted uninitialized' : 'no taint'}, ${addressesOf(after)}`,
    ];
  }
  const story: string[] = [];
  if (addressesOf(before) !== addressesOf(after)) story.push(`addresses ${addressesOf(after)}`);
  const providerID = after.spec?.providerID;
  if (providerID && before.spec?.providerID !== providerID) story.push(`provider ID ${providerID}`);
  const labels = CLOUD_LABELS.filter((word) => labelOf(before, LABELS[word]) !== labelOf(after, LABELS[word]));
  if (labels.length > 0) story.push(labels.map((word) => `${word} ${labelOf(after, LABELS[word])}`).join(', '));
  if (isTainted(before) && !isTainted(after)) story.push('taint gone');
  const podCIDRs = podCIDRsOf(after);
  if (podCIDRs !== '' && podCIDRsOf(before) !== podCIDRs) story.push(`pod CIDR ${podCIDRs}`);
  const network = conditionOf(after, 'NetworkUnavailable');
  if (network !== undefined && conditionOf(before, 'NetworkUnavailable')?.status !== network.status) {
    story.push(`NetworkUnavailable ${network.status} (${network.reason ?? ''})`);
  }
  if (!isReady(before) && isReady(after)) story.push('Ready, says its kubelet');
  if (isReady(before) && !isReady(after)) story.push(`Ready ${conditionOf(after, 'Ready')?.status ?? 'Unknown'}`);
  return story;
}

export function isTainted(node: Node): boolean {
  return node.spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT) ?? false;
}

function isReady(node: Node): boolean {
  return conditionOf(node, 'Ready')?.status === 'True';
}

function conditionOf(node: Node, wanted: string): NodeCondition | undefined {
  return node.status?.conditions?.find(({ type }) => type === wanted);
}

export function podCIDRsOf(node: Node): string {
  return node.spec?.podCIDRs?.join(', ') ?? '';
}

/**
 * What is still missing; empty when the node has converged. `routes`: whether it is to get one (default: true); `labels`: which of
 * them its cloud has (default: all).
 */
export function missingOf(
  node: Node | undefined,
  { labels = CLOUD_LABELS, routes = true }: { readonly routes?: boolean; readonly labels?: readonly CloudLabel[] } = {},
): readonly string[] {
  if (node === undefined) return ['not registered'];
  const missing: string[] = [];
  if (isTainted(node)) missing.push('still has the uninitialized taint');
  if (!node.spec?.providerID) missing.push('no provider ID');
  if (!node.status?.addresses?.some(({ type }) => type !== 'Hostname')) missing.push('no address');
  for (const word of labels) if (!labelOf(node, LABELS[word])) missing.push(`no ${word} label`);
  if (routes && podCIDRsOf(node) === '') missing.push('no pod CIDR');
  if (routes && conditionOf(node, 'NetworkUnavailable')?.status !== 'False') missing.push('no route');
  if (missing.length === 0 && !isReady(node)) missing.push('not Ready');
  return missing;
}

export function labelOf(node: Node, label: string): string {
  return node.metadata?.labels?.[label] ?? '';
}

export function addressesOf(node: Node): string {
  const addresses = node.status?.addresses ?? [];
  const shown = addresses.filter(({ type }) => type !== 'Hostname').map(({ type, address }) => `${type} ${address}`);
  return shown.length === 0 ? 'no address' : shown.join(', ');
}
