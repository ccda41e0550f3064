/** What is done about the pod CIDRs of a node whose cloud gives its machine ranges too. Pure. */
import { parseCidrs } from './parse-cidrs.ts';

/** `from-cloud`: the cloud chooses, the node is told. `to-cloud`: the cluster has chosen, the cloud is told. */
export type RangeDirection = 'from-cloud' | 'to-cloud';

/** It may be known within seconds. */
const UNHEARD_TOLD_MS = 10_000;
/** Nodes in a message. */
const MOST_NAMED = 3;

export interface Clash {
  readonly cidr: string;
  /** The name of the node that has a part of it. */
  readonly node: string;
}

export interface Clashes {
  /** Of what the machine has, what another node has a part of. */
  readonly clashes: readonly Clash[];
  /** Of what the machine has, what another node has a part of, and the cloud has yet to say whether that is its machine's. */
  readonly unheard: readonly Clash[];
  /** For so long it has been waited for. */
  readonly unheardMs: number;
}

export interface CloudRangesObservation extends Clashes {
  readonly direction: RangeDirection;
  /** What the node has. */
  readonly node: readonly string[];
  /** What its machine has; `undefined`: not known. */
  readonly cloud: readonly string[] | undefined;
  /** The condition of the node is this controller's, and does not say yet that there is a network. */
  readonly waitsForNetwork: boolean;
}

export type CloudRangesAction =
  | { readonly kind: 'set-pod-cidrs'; readonly podCidrs: readonly string[] }
  | { readonly kind: 'assign-in-cloud'; readonly podCidrs: readonly string[] }
  | { readonly kind: 'set-network-available' };

export interface CloudRangesPlan {
  readonly actions: readonly CloudRangesAction[];
  /** Why there is nothing that could be done. Reasons are upstream's where it has one. */
  readonly problem?: { readonly reason: string; readonly message: string };
  /** Only the cloud can change this: it is asked again. */
  readonly askAgain: boolean;
}

export function planCloudRanges(observation: CloudRangesObservation): CloudRangesPlan {
  const { direction, node, cloud, clashes, unheard, unheardMs, waitsForNetwork } = observation;
  const network: readonly CloudRangesAction[] = waitsForNetwork ? [{ kind: 'set-network-available' }] : [];
  const stuck = (reason: string, message: string): CloudRangesPlan => ({
    actions: [],
    problem: { reason, message },
    askAgain: true,
  });
  // The range allocator of this program gives it some first.
  if (direction === 'to-cloud' && node.length === 0) return { actions: [], askAgain: false };
  if (cloud === undefined) return { actions: [], askAgain: true };
  const has = node.join(', ');
  if (node.length === 0) {
    if (cloud.length === 0)
      return stuck('CIDRNotAvailable', 'The cloud has not assigned a pod CIDR to the machine yet.');
    if (clashes.length > 0) {
      return stuck(
        'PodCIDRClash',
        `The cloud assigned ${cidrsIn(clashes)} to the machine, which overlaps the pod CIDR of node ${namesIn(clashes)}: nothing is written until that node is deleted.`,
      );
    }
    if (unheard.length > 0) {
      if (unheardMs < UNHEARD_TOLD_MS) return { actions: [], askAgain: true };
      return stuck(
        'PodCIDRClash',
        `The cloud assigned ${cidrsIn(unheard)} to the machine, which overlaps the pod CIDR of node ${namesIn(unheard)}, and it is not known whether the machine of that node has it. The cloud is asked for at least 2 minutes; if it is not known by then, the pod CIDR is set on this node. If both nodes use it, delete one of them.`,
      );
    }
    return { actions: [{ kind: 'set-pod-cidrs', podCidrs: cloud }, ...network], askAgain: false };
  }
  if (cloud.length === 0) {
    return direction === 'to-cloud'
      ? { actions: [{ kind: 'assign-in-cloud', podCidrs: node }, ...network], askAgain: false }
      : stuck(
          'CloudCIDRAllocatorInvalidMode',
          `The node has the pod CIDR ${has}, and its machine has none in the cloud: assign this CIDR to the machine, or use --cidr-allocator-type=IPAMFromCluster.`,
        );
  }
  if (isSame(node, cloud)) return { actions: network, askAgain: false };
  return stuck(
    'CloudCIDRAllocatorMismatch',
    `The node has the pod CIDR ${has}, and its machine has ${cloud.join(', ')} in the cloud. Neither is changed: correct the machine, or delete the node and let it register again.`,
  );
}

function cidrsIn(clashes: readonly Clash[]): string {
  return [...new Set(clashes.map(({ cidr }) => cidr))].join(', ');
}

function namesIn(clashes: readonly Clash[]): string {
  return [...new Set(clashes.map(({ node }) => node))].slice(0, MOST_NAMED).join(', ');
}

/** A clause without a subject. */
export function summaryOf(action: CloudRangesAction): string {
  switch (action.kind) {
    case 'set-pod-cidrs':
      return `set the pod CIDRs ${action.podCidrs.join(', ')} of its machine on the node`;
    case 'assign-in-cloud':
      return `assign the pod CIDRs ${action.podCidrs.join(', ')} to its machine`;
    default:
      return 'set its condition NetworkUnavailable to False';
  }
}

/** The first of each family, as only that fits into a node; in canonical form. */
export function firstOfEachFamily(texts: readonly string[]): readonly string[] {
  const cidrs = parseCidrs(texts);
  return cidrs.filter(({ family }, i) => cidrs.findIndex((one) => one.family === family) === i).map(({ text }) => text);
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  const canonical = (texts: readonly string[]): string => firstOfEachFamily(texts).toSorted().join(' ');
  return canonical(a) === canonical(b);
}
