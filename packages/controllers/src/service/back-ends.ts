/** Which nodes take traffic. Never by readiness: a node that is not Ready for a minute must not cut what runs through it. Pure. */
import {
  canonicalAddress,
  canonicalIp,
  type BackEnd,
  type LoadBalancers,
  type NodeAddress,
  type NodeRef,
} from '@outrigger/cloud-provider';
import type { Node, ResourceEvent } from '@outrigger/kube';
import { refOfNode } from '../node-ref.ts';
import { isUninitialized } from '../node/taints.ts';
import { ownerOf } from '../provider-id.ts';
import { isUnmanaged, type UnmanagedRule } from '../unmanaged-nodes.ts';
import { excludeLabel, toBeDeletedTaintKey } from './well-known-names.ts';

/** What Go's `strconv.ParseBool` reads as false: upstream's rule for the label. */
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** Whose back ends. */
export interface BackEndProvider {
  /** The prefix of its provider IDs. */
  readonly providerName: string;
  /** Has the nodes too whose provider ID names no provider. */
  readonly isDefault: boolean;
  /** `LoadBalancers.takesForeignNodes`. Default: false. */
  readonly takesForeignNodes?: LoadBalancers['takesForeignNodes'] | undefined;
  /** All that this program runs: a node of another of them is that one's. Default: none beside. */
  readonly providers?: readonly string[] | undefined;
  /** Nodes that are left alone, also where foreign ones are taken. Default: none. */
  readonly unmanaged?: readonly UnmanagedRule[] | undefined;
}

/**
 * The addresses that the cloud gives for a node. `undefined`: nobody knows, and what its status says counts. `unconfirmed`: the cloud has
 * no machine for it, or not yet: it does not become a back end, and one that is (`before`) stays as it is.
 */
export type ConfirmedAddresses = (
  node: Node,
  before: BackEnd | undefined,
) => readonly NodeAddress[] | 'unconfirmed' | undefined;

export const byNodeName = (a: BackEnd, b: BackEnd): number => (a.node.name < b.node.name ? -1 : 1);

/**
 * A node as a back end. Its status is written by its kubelet too: of what it says, an address that the cloud does not give for the
 * machine gets no traffic. `before` is what the node was: itself where nothing of it has changed, and its addresses where they have not.
 */
export function backEndOf(node: Node, ofCloud: ConfirmedAddresses, before?: BackEnd): BackEnd | undefined {
  const ref = refOfNode(node);
  const sameMachine = before && sameMachineOf(before.node, ref) ? before : undefined;
  const given = ofCloud(node, sameMachine);
  const addresses = given === 'unconfirmed' ? sameMachine?.addresses : confirmed(node, given);
  if (!addresses) return undefined;
  if (!before || !sameAddresses(addresses, before.addresses)) return { node: ref, addresses };
  return sameRef(ref, before.node) ? before : { node: ref, addresses: before.addresses };
}

export function isBackEnd(node: Node, provider: BackEndProvider): boolean {
  if (node.metadata?.deletionTimestamp || !isIncluded(node)) return false;
  return !isToBeDeleted(node) && !isUnmanaged(node, provider) && isOfProvider(node, provider);
}

function isOfProvider(node: Node, options: BackEndProvider): boolean {
  const { isDefault, providerName, providers = [], takesForeignNodes = false } = options;
  const providerID = node.spec?.providerID;
  const owner = ownerOf(providerID, providerName);
  if (owner === 'ours') return true;
  if (owner === 'opaque') return isDefault;
  if (!takesForeignNodes) return false;
  // One that waits to be initialised is about to be somebody's.
  if (owner === 'none') return !isUninitialized(node);
  return !providers.some((one) => ownerOf(providerID, one) === 'ours');
}

/** Whether a node with this provider ID is a back end by `takesForeignNodes` alone: no cloud confirms its addresses. */
export function isForeign(providerID: string | undefined, { providerName }: BackEndProvider): boolean {
  return ['none', 'foreign'].includes(ownerOf(providerID, providerName));
}

/**
 * Whether a change of a node is a reason to look at the load balancers. The autoscaler's taint is none: connections drain
 * while the node is still a back end, and it leaves at the next occasion. That the taint is gone is one: the removal was
 * called off, and no other occasion may come. Addresses are, for clouds that balance to them.
 */
export function wakesLoadBalancers(change: ResourceEvent<Node>, provider: BackEndProvider): boolean {
  if (change.type === 'add') return isBackEnd(change.object, provider);
  if (change.type === 'delete') return true;
  const { object, previous } = change;
  return (
    isIncluded(object) !== isIncluded(previous) ||
    isUnmanaged(object, provider) !== isUnmanaged(previous, provider) ||
    (isToBeDeleted(previous) && isBackEnd(object, provider)) ||
    (isUninitialized(previous) && isBackEnd(object, provider) && !isBackEnd(previous, provider)) ||
    object.spec?.providerID !== previous.spec?.providerID ||
    object.metadata?.uid !== previous.metadata?.uid ||
    !sameAddresses(addressesOf(object), addressesOf(previous))
  );
}

/** Whether a change of a node that is itself no such reason may be one for some Service: labels, by which its provider selects. */
export function mayBeSelectedAnew(change: ResourceEvent<Node>): boolean {
  if (change.type !== 'update') return false;
  const { object, previous } = change;
  return !sameTexts(object.metadata?.labels ?? {}, previous.metadata?.labels ?? {});
}

/** Whether what was the back end is no more, or about to be no more: another machine may be behind its name. */
export function isLeaving(change: ResourceEvent<Node>, before: BackEnd | undefined): boolean {
  if (change.type === 'delete') return true;
  const { metadata, spec } = change.object;
  if (metadata?.deletionTimestamp !== undefined || isToBeDeleted(change.object)) return true;
  return before !== undefined && (before.node.uid !== metadata?.uid || before.node.providerID !== spec?.providerID);
}

function isToBeDeleted({ spec }: Node): boolean {
  return spec?.taints?.some(({ key }) => key === toBeDeletedTaintKey) ?? false;
}

/** A label whose value is no boolean excludes, as its mere presence did before Kubernetes 1.32. */
function isIncluded(node: Node): boolean {
  const value = node.metadata?.labels?.[excludeLabel];
  return value === undefined || FALSE.has(value);
}

/** Of the addresses in the status of a node those that the cloud gives for its machine; all where it gives none, which says nothing. */
export function confirmed(node: Node, ofCloud: readonly NodeAddress[] = []): readonly NodeAddress[] {
  if (ofCloud.length === 0) return addressesOf(node);
  const known = new Set(ofCloud.map(({ address }) => canonicalAddress(address)));
  return addressesOf(node).filter(({ address, type }) => {
    const ip = canonicalIp(address);
    // A host name that is an address may be used as one.
    return (type === 'Hostname' && ip === undefined) || known.has(ip ?? address);
  });
}

export function addressesOf(node: Node): readonly NodeAddress[] {
  return (node.status?.addresses ?? []) as readonly NodeAddress[];
}

function sameMachineOf(a: NodeRef, b: NodeRef): boolean {
  return a.uid === b.uid && a.providerID === b.providerID;
}

function sameRef(a: NodeRef, b: NodeRef): boolean {
  return (
    a.name === b.name &&
    sameMachineOf(a, b) &&
    a.systemUUID === b.systemUUID &&
    sameTexts(a.labels, b.labels) &&
    sameTexts(a.annotations, b.annotations)
  );
}

function sameTexts(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(a);
  return a === b || (keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]));
}

function sameAddresses(a: readonly NodeAddress[], b: readonly NodeAddress[]): boolean {
  return (
    a === b ||
    (a.length === b.length && a.every(({ address, type }, i) => address === b[i]?.address && type === b[i].type))
  );
}

export function sameBackEnds(a: readonly BackEnd[], b: readonly BackEnd[]): boolean {
  return (
    a === b ||
    (a.length === b.length &&
      a.every((one, i) => {
        const other = b[i];
        return (
          one === other ||
          (one.node.uid === other?.node.uid &&
            one.node.providerID === other.node.providerID &&
            sameAddresses(one.addresses, other.addresses))
        );
      }))
  );
}
