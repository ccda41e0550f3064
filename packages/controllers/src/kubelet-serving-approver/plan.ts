/** From what is known about one CertificateSigningRequest of a kubelet to what is to be done about it. Pure: entry point `planServingRequest`. */
import { canonicalIp, isCloudError, quote, type Instance } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import type { CertificateSigningRequest, Node } from '@outrigger/kube';
import { twinsOf } from '../node/twins.ts';
import { ownerOf } from '../provider-id.ts';
import { isUnmanaged, type NodeOwnerOptions } from '../unmanaged-nodes.ts';
import type { MalformedReason, ServingRequest } from './serving-request.ts';
import { isDecided } from './trim-request.ts';

/** A kubelet waits for 15 minutes and makes another one; what is older helps nobody. */
const OF_USE_MS = 3_600_000;
/** So many of the names that are refused are told. */
const TOLD_NAMES = 3;

export interface ServingOptions extends NodeOwnerOptions {
  /** Of the program, that one among them: each has an approver of its own. */
  readonly providerNames: readonly string[];
  /** Judges what belongs to none of them. */
  readonly isDefault: boolean;
}

export interface ObservedRequest {
  readonly csr: CertificateSigningRequest;
  /** What it asks for. */
  readonly asked: ServingRequest;
  /** The node of that name. */
  readonly node: Node | undefined;
  /** The cloud's, from a read that began after the request had been seen; `undefined`: not asked yet. */
  readonly answer: DatedAnswer | undefined;
  /** Nodes that have one of these provider IDs. */
  readonly withProviderID: (ids: readonly string[]) => readonly Node[];
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
  readonly options: ServingOptions;
}

/** Why it stays pending: a fixed word, for the metric. */
export type WaitReason =
  | 'no-node'
  | 'no-provider-id'
  | 'foreign-provider-id'
  | 'cloud-unknown'
  | 'machine-missing'
  | 'machine-shut-down'
  | 'addresses-unknown'
  | 'name-unconfirmed'
  | 'machine-shared'
  | 'too-many-reads';

export type DenyReason = MalformedReason | 'foreign-name';

export type ServingPlan =
  | {
      readonly kind: 'nothing';
      readonly reason: 'decided' | 'too-old' | 'not-a-kubelet' | 'another-provider' | 'unmanaged';
    }
  /** The cloud is to be asked about the node's machine. */
  | { readonly kind: 'read'; readonly node: Node }
  /** `problem`, here and below: a clause. */
  | { readonly kind: 'wait'; readonly reason: WaitReason; readonly problem: string }
  | { readonly kind: 'deny'; readonly reason: DenyReason; readonly problem: string }
  | { readonly kind: 'approve'; readonly providerID: string };

/**
 * Approves only what the cloud confirms, denies only what it contradicts or what no kubelet asks for; whatever else stays pending,
 * and is looked at again.
 */
export function planServingRequest(observed: ObservedRequest): ServingPlan {
  const { asked, csr, node, now, options } = observed;
  if (isDecided(csr)) return { kind: 'nothing', reason: 'decided' };
  const createdAt = Date.parse(csr.metadata?.creationTimestamp ?? '');
  if (now - createdAt > OF_USE_MS) return { kind: 'nothing', reason: 'too-old' };
  if (asked.kind === 'not-a-kubelet') return { kind: 'nothing', reason: 'not-a-kubelet' };
  // No cloud knows its machine: a person does.
  if (node && isUnmanaged(node, options)) return { kind: 'nothing', reason: 'unmanaged' };
  const providerID = node?.spec?.providerID;
  const isOurs = ownerOf(providerID, options.providerName) === 'ours';
  const hasOwner = options.providerNames.some((name) => ownerOf(providerID, name) === 'ours');
  if (!isOurs && (hasOwner || !options.isDefault)) return { kind: 'nothing', reason: 'another-provider' };
  if (asked.kind === 'malformed') return { kind: 'deny', reason: asked.reason, problem: asked.problem };
  if (!node || node.metadata?.deletionTimestamp) return wait('no-node', `there is no node ${quote(asked.nodeName)}`);
  if (!providerID) return wait('no-provider-id', 'the node has no provider ID yet');
  if (!isOurs) {
    return wait(
      'foreign-provider-id',
      `the node's provider ID ${quote(providerID)} is of none of the program's clouds`,
    );
  }
  return planAnswer(observed, asked, node);
}

function planAnswer(
  { answer, withProviderID }: ObservedRequest,
  asked: Extract<ServingRequest, { kind: 'well-formed' }>,
  node: Node,
): ServingPlan {
  if (!answer) return { kind: 'read', node };
  const { result } = answer;
  if (result.kind === 'failed')
    return wait('cloud-unknown', `the read of its machine failed (${errorOf(result.error)})`);
  if (result.kind !== 'found') return wait('machine-missing', 'the cloud does not show its machine');
  const { instance } = result;
  // Somebody asks as this machine's kubelet, so it or the answer is not what it seems.
  if (instance.state !== 'running') return wait('machine-shut-down', 'the cloud says that its machine is shut down');
  const ids = [node.spec?.providerID ?? '', instance.providerID];
  const [twin] = twinsOf(node, withProviderID(ids));
  if (twin) {
    return wait('machine-shared', `node ${quote(twin.metadata?.name ?? '')} has the provider ID of the same machine`);
  }
  const machine = machineNames(instance, asked.nodeName);
  if (!machine.isNamed) {
    const named = [...machine.dnsNames].map(quote).slice(0, TOLD_NAMES).join(', ');
    const problem = `the cloud does not say that machine ${quote(instance.providerID)} is called as the node is (${named || 'it gives no name'})`;
    return wait('name-unconfirmed', problem);
  }
  const foreign = [
    ...asked.ips.filter((ip) => !machine.ips.has(ip)),
    ...asked.dnsNames.filter((name) => !machine.dnsNames.has(name)),
  ];
  if (instance.addressesBy === 'guest' && foreign.length > 0) {
    const problem = `it asks for ${toldOf(foreign)}, and of machine ${quote(instance.providerID)} only its guest reports its addresses (inconclusive)`;
    return wait('addresses-unknown', problem);
  }
  if (asked.ips.length > 0 && machine.ips.size === 0) {
    return wait('addresses-unknown', `the cloud gives no address of machine ${quote(instance.providerID)}`);
  }
  if (foreign.length > 0) {
    const problem = `it asks for ${toldOf(foreign)}, which the cloud does not give for machine ${quote(instance.providerID)}`;
    return { kind: 'deny', reason: 'foreign-name', problem };
  }
  return { kind: 'approve', providerID: instance.providerID };
}

function toldOf(foreign: readonly string[]): string {
  const told = foreign.slice(0, TOLD_NAMES).map(quote).join(', ');
  return foreign.length > TOLD_NAMES ? `${told} and ${foreign.length - TOLD_NAMES} more` : told;
}

interface MachineNames {
  /** The cloud says that the machine has the node's name: the kubelet may have chosen the provider ID itself. */
  readonly isNamed: boolean;
  /** As the cloud gives them, and in small letters, as a kubelet writes its host's name. */
  readonly dnsNames: ReadonlySet<string>;
  /** In canonical form. */
  readonly ips: ReadonlySet<string>;
}

/** By what they say, not by their types: the `Hostname` of a machine may be an address. */
function machineNames({ addresses = [], addressesBy, name = '' }: Instance, nodeName: string): MachineNames {
  const ips = new Set<string>();
  const dnsNames = new Set<string>();
  // What the guest says of itself proves nothing.
  const own = addressesBy === 'guest' ? [] : addresses.map((one) => one.address);
  for (const address of [name, ...own]) {
    const ip = canonicalIp(address);
    if (ip !== undefined) ips.add(ip);
    else if (address !== '') dnsNames.add(address).add(address.toLowerCase());
  }
  const isNamed =
    ips.has(nodeName) || [...dnsNames].some((name) => name === nodeName || name.startsWith(`${nodeName}.`));
  // The first label of a name that it gives: kubelets ask for it before the node has the cloud's addresses.
  if (isNamed && canonicalIp(nodeName) === undefined) dnsNames.add(nodeName);
  return { isNamed, dnsNames, ips };
}

function wait(reason: WaitReason, problem: string): ServingPlan {
  return { kind: 'wait', reason, problem };
}

/** The message of any other error may hold what no Event should. */
function errorOf(error: Error): string {
  return isCloudError(error) ? `${error.message}, ${error.code}` : 'see the log for the error';
}
