/** Machines: what the node and node-lifecycle controllers ask a cloud. */
import type { CallContext } from './call-context.ts';

/** A node, as far as a cloud needs to know it. */
export interface NodeRef {
  readonly name: string;
  readonly uid: string;
  /** `spec.providerID`; absent until the node is initialised. Of more than 1,024 characters, the first of them. */
  readonly providerID?: string | undefined;
  /**
   * `status.nodeInfo.systemUUID`: the UUID that the machine's firmware gives (SMBIOS), by which some clouds know a machine of which
   * they know no node name. Its kubelet writes it: good to look a machine up by, no proof that it is this one. Compare it without
   * regard to case; older firmware swaps bytes of the first three groups. Of more than 255 characters, the first of them. Absent: not reported yet.
   */
  readonly systemUUID?: string | undefined;
  /**
   * `metadata.creationTimestamp`, in milliseconds since the Unix epoch: a machine that was made after it is not this node's. Whole
   * seconds, by the API server's clock. Absent: not known.
   */
  readonly createdAt?: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  /** Of values with more than 4,096 characters, the first of them. */
  readonly annotations: Readonly<Record<string, string>>;
}

/** `state`: does it exist, is it shut down. `metadata`: also type, zone, region, addresses, labels. */
export type InstanceNeed = 'state' | 'metadata';

export type NodeAddressType = 'InternalIP' | 'ExternalIP' | 'Hostname' | 'InternalDNS' | 'ExternalDNS';

export interface NodeAddress {
  readonly type: NodeAddressType;
  readonly address: string;
}

/** What a cloud says of a machine that will be, or is, out of service for a while. */
export interface InstanceMaintenance {
  readonly state: 'planned' | 'in-progress';
  /** Milliseconds since the Unix epoch: it does not begin before. Absent: the cloud does not say. */
  readonly notBefore?: number | undefined;
  /** For a person: a clause in the cloud's words (`live migration`). At most 255 characters are shown; no secrets. */
  readonly reason?: string | undefined;
}

/** A machine that exists. */
export interface Instance {
  /**
   * `<provider name>://…`, the same for the life of the machine, of 1,024 characters at most. A node whose machine has none, another's prefix or
   * the ID that an older node has keeps its taint.
   */
  readonly providerID: string;
  /** `running` covers everything that is not certainly shut down: starting, paused, in error. */
  readonly state: 'running' | 'shutdown';
  /**
   * What the cloud calls the machine, where its node is called so too: by it a `lookUp` finds a node that has no provider ID. Never what
   * the guest says of itself. It confirms that a kubelet asks for its own machine's certificate, beside the names in `addresses` that are the
   * cloud's own; with need `metadata`.
   */
  readonly name?: string | undefined;
  /** Instance type, a valid label value. With need `metadata`, as all below. As `name`, `zone` and `region` of 255 characters at most. */
  readonly type?: string;
  readonly zone?: string;
  readonly region?: string;
  /** In order of preference; 1,000 of 255 characters at most. Empty or absent means unknown, never "has none". */
  readonly addresses?: readonly NodeAddress[];
  /**
   * Whose word `addresses` are. `guest`: an agent in the machine reports them, so that whoever is root there can name any; the node gets
   * them, and no serving certificate of a kubelet is approved for them. Default: `cloud`, which no machine can choose.
   */
  readonly addressesBy?: 'cloud' | 'guest' | undefined;
  /**
   * Ranges that the cloud routes to the machine, for its pods (alias ranges, delegated prefixes): the first of each IP family
   * counts. 1,000 at most. Empty: it has none yet. Absent: nothing is known of such. Upstream: the cloud side of `CloudAllocator`.
   */
  readonly podCidrs?: readonly string[] | undefined;
  /**
   * Maintenance of the machine, or of the host below it, that the cloud has announced or is carrying out. Absent: none is known. Shown
   * as conditions of the node with `--node-maintenance-conditions`; nothing is drained or tainted.
   */
  readonly maintenance?: InstanceMaintenance | undefined;
  /**
   * Tags that the cloud config asks for on the machines of nodes, and that this one lacks, or has with another value: they are put on it by
   * `NodeTags.put`. Only of a machine that the cloud shows to be this cluster's: a node chooses its provider ID itself. Absent or empty: none, or not known.
   */
  readonly missingTags?: Readonly<Record<string, string>> | undefined;
  /**
   * More labels for the node. Ignored under kubernetes.io and k8s.io, and where the node has the label already. As `annotations` and
   * `missingTags` 1,000 at most, whose names and values have 4,096 characters at most.
   */
  readonly labels?: Readonly<Record<string, string>>;
  /**
   * More annotations for the node: what a provider has to know of it after a restart, and nobody selects by. Written where they differ; read back
   * in `NodeRef.annotations`. Ignored under kubernetes.io and k8s.io, and of more than 255 characters.
   */
  readonly annotations?: Readonly<Record<string, string>> | undefined;
}

/**
 * What is known about one node. Missing is not absent, and unknown is never absent:
 * - `found`: it exists.
 * - `missing`: it was not in what was read; that proves nothing (a filtered, paged or eventually consistent list).
 * - `absent`: the cloud said directly that this very machine does not exist. `proof` names the call and the answer, for people: of more than
 *   300 characters, the first are shown. `wasHere`: the cloud also remembers it (nova's actions, EC2's `terminated`), so that this is the place where it was.
 * - `failed`: it could not be found out. A `CloudError` where the cause is known.
 */
export type InstanceResult =
  | { readonly kind: 'found'; readonly instance: Instance }
  | { readonly kind: 'missing' }
  | { readonly kind: 'absent'; readonly proof: string; readonly wasHere?: true }
  | { readonly kind: 'failed'; readonly error: Error };

export interface InstanceAnswer {
  /**
   * `host.clock.monotonic()` from before the oldest request that this answer rests on was sent. Who answers from a cache, or from a
   * list that was read for an earlier question, has to say it: a node is deleted on what counts as new. Default: when the host called.
   */
  readonly asOf?: number | undefined;
  readonly result: InstanceResult;
  /**
   * Where was asked: the account, project or vCenter, as the credentials lead to it. Any text that is the same for the same place
   * and another for each other place, in which all machines of the cluster would seem to be gone; no secret. Without it, the
   * nodes of a cluster whose machines are all gone at once are never deleted: nothing tells that from wrong credentials. Of 1,024 characters at most.
   */
  readonly place?: string | undefined;
  /**
   * How the answer came about, for people: `outrigger explain node` shows it. Sentences, each with its full stop; no secrets. Of more than 32, and
   * of more than 300 characters, the first. Default: none.
   */
  readonly notes?: readonly string[] | undefined;
}

/**
 * A machine that may have changed: by its provider ID, by the name of its node, or by both, as a node has no ID before it is initialised.
 * With neither: some have, it is not said which.
 */
export interface InstanceHint {
  readonly providerID?: string | undefined;
  readonly name?: string | undefined;
}

/** Replaces upstream's Instances, InstancesV2 and Zones: one batched look-up answers exists, shut down and metadata. */
export interface Instances {
  /**
   * Most nodes that one `lookUp` takes. The host never gives more, and runs at most two look-ups at once, one for `critical` questions
   * and one for the others; one whose signal has aborted no longer counts. Default: 100.
   */
  readonly batchSize?: number | undefined;
  /**
   * Looks nodes up, by provider ID where they have one, else by name. Called when nodes appear, ever more seldom while they wait for their
   * machines or are not Ready, and for all nodes once per status period. No two of one call have the same name. Reads only. Answers in the order of `nodes`. Throw (`CloudError`) only when nothing at all could be found out.
   * May answer `absent` only where its call proves absence; a list does not.
   */
  lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]>;
  /**
   * Reads one machine directly, never from a cache or a list: the only answer on which a node is ever deleted. Called for
   * nodes that are not Ready and were `missing` or `absent`, and again after the grace period. `absent` only for the cloud's own "no such machine".
   */
  read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer>;
  /**
   * What names the machine in a provider ID of this provider: the same text for one machine, in whichever form the ID is written (with a
   * region, zone or without, in upper case). Of several nodes for which it is the same only the oldest is initialized. Pure; `undefined` for an
   * ID that names no machine. Default: the whole ID.
   */
  machineOf?(providerID: string): string | undefined;
  /**
   * Hints that machines have changed, come or gone: from a queue of the cloud's events, a long poll, a watch. A hint only lets the host look
   * up sooner, and proves nothing: it may be wrong, late, or of machines that are no nodes. The host asks about a batch of hinted
   * nodes every 5 s at most, and about all once a minute at most. Iterated once, while this process leads; `call.signal` ends it.
   * May end or throw: it is begun anew after 1 s, doubled up to 5 minutes. Requests go through `call.call`; one that
   * waits counts as one in flight for as long: have one at a time. Default: no hints, nodes are looked up once per status period.
   */
  changes?(call: CallContext): AsyncIterable<InstanceHint>;
}
