/**
 * Nodes that have no machine in a cloud, though they may look as if they had: of a virtual kubelet, at the edge, in a cellar. The one
 * rule by which every controller leaves them alone. Pure.
 */
import type { Node } from '@outrigger/kube';
import { ownerOf, type ProviderIdOwner } from './provider-id.ts';

/** One way to know them. */
export interface UnmanagedRule {
  /** As it was written. */
  readonly text: string;
  readonly matches: (node: Node) => boolean;
}

/** What virtual kubelets give their nodes by themselves. */
export const VIRTUAL_KUBELETS: readonly string[] = ['label:type=virtual-kubelet', 'taint:virtual-kubelet.io/provider'];

const RULE = /^(label|taint|provider-id):([^=\s]+)(?:=(\S*))?$/u;

/** `label:<key>[=<value>]`, `taint:<key>[=<value>]`, `provider-id:<beginning>`. Throws a `RangeError` that says what is wrong. */
export function parseUnmanagedRule(text: string): UnmanagedRule {
  const [, kind, key = '', value] = RULE.exec(text) ?? [];
  const fits = (given: string | undefined): boolean => given !== undefined && (value === undefined || given === value);
  if (kind === 'label') return { text, matches: ({ metadata }) => fits(metadata?.labels?.[key]) };
  if (kind === 'taint') {
    return {
      text,
      matches: ({ spec }) => spec?.taints?.some((one) => one.key === key && fits(one.value ?? '')) ?? false,
    };
  }
  if (kind === 'provider-id' && value === undefined) {
    return { text, matches: ({ spec }) => spec?.providerID?.startsWith(key) ?? false };
  }
  throw new RangeError(
    `${JSON.stringify(text)} is not label:<key>, label:<key>=<value>, taint:<key>, taint:<key>=<value> or provider-id:<beginning>`,
  );
}

/** Whose nodes. */
export interface NodeOwnerOptions {
  /** The prefix of our provider IDs. */
  readonly providerName: string;
  /** Nodes that are left alone, whatever their provider ID says. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
}

export function isUnmanaged(node: Node, { unmanaged = [] }: Pick<NodeOwnerOptions, 'unmanaged'>): boolean {
  return unmanaged.some(({ matches }) => matches(node));
}

/** Whose node it is. One that is left alone is `foreign`, as those of other providers are. */
export function ownerOfNode(node: Node, options: NodeOwnerOptions): ProviderIdOwner {
  return isUnmanaged(node, options) ? 'foreign' : ownerOf(node.spec?.providerID, options.providerName);
}
