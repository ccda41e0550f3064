/** A vCenter, as the provider asks it. What it answers is plain data; every request goes through the host's budget. */
import type { CallContext } from '@outrigger/cloud-provider';
import type { VirtualMachine } from './virtual-machine.ts';

/** A managed object by type and reference: `{ type: 'HostSystem', reference: 'host-21' }`. */
export interface ManagedObject {
  readonly type: string;
  readonly reference: string;
}

/** An object of the inventory above machines: host, cluster, datacenter, folder, resource pool. */
export interface InventoryObject extends ManagedObject {
  readonly name: string;
  /** The reference of what it is in; absent for the root folder. */
  readonly parent?: string | undefined;
  /** Of a host: it is in maintenance mode, or a task is bringing it there. Absent: neither is known. */
  readonly maintenance?: 'entering' | 'entered' | undefined;
}

/** A tag that is attached to an object. */
export interface AttachedTag {
  /** Name of its category: `k8s-zone`. */
  readonly category: string;
  readonly name: string;
}

/** All machines that the session may see. Whole, or the list rejects: machines that it may not see are no part of it, so it proves no absence. */
export interface MachineList {
  readonly machines: readonly VirtualMachine[];
  /** Objects whose properties vCenter did not give, with its reason (`missingSet`). */
  readonly withheld: readonly { readonly reference: string; readonly fault: string }[];
  /** What is around them, where it was asked for. */
  readonly surroundings?: ReadonlyMap<string, InventoryObject>;
}

export interface ListOptions {
  /** Only machines of these, by name or inventory path. Default: of all. */
  readonly datacenters?: readonly string[];
  /** With what `Vcenter.surroundings` gives, in the same requests. Default: false. */
  readonly surroundings?: boolean;
}

export interface TagOptions {
  /** Names of tags and categories will do that were read within a day. Default: within ten minutes. */
  readonly oldNames?: boolean;
}

/** What a change may have been: a hint that proves nothing. Without a reference: something has changed. */
export interface InventoryChange {
  readonly reference?: string | undefined;
  readonly kind: 'enter' | 'modify' | 'leave';
}

/** Every method rejects with a `CloudError`; a session that has ended is opened anew once for all callers, and the request sent again. */
export interface Vcenter {
  /** As it is configured: for messages and metrics. */
  readonly address: string;
  /** `about.instanceUuid`, asked with a session that is valid after the answer. */
  identify(call: CallContext): Promise<string>;
  /** Machines with their properties, in as few requests as pages. */
  machines(call: CallContext, options?: ListOptions): Promise<MachineList>;
  /**
   * References of the machines with this BIOS UUID in the whole vCenter (`SearchIndex.FindAllByUuid`), with a session that is valid after the
   * answer. Empty is no proof: an inaccessible machine has none.
   */
  findByUuid(uuid: string, call: CallContext): Promise<readonly string[]>;
  /**
   * One machine, read directly. `gone`: vCenter answered ManagedObjectNotFound naming this very reference, with a session that is valid after the
   * answer. A machine that may not be read (NoPermission) rejects with `forbidden`.
   */
  machine(reference: string, call: CallContext): Promise<VirtualMachine | 'gone'>;
  /** Hosts with their maintenance, clusters, datacenters, folders and resource pools by reference: one request for all. */
  surroundings(call: CallContext): Promise<ReadonlyMap<string, InventoryObject>>;
  /** Tags of these objects by reference, of these categories alone; one request for many objects, and none for what is known of tags and categories. */
  tags(
    objects: readonly ManagedObject[],
    categories: readonly string[],
    call: CallContext,
    options?: TagOptions,
  ): Promise<ReadonlyMap<string, readonly AttachedTag[]>>;
  /** Hints by `WaitForUpdatesEx`, each request no longer than the contract's `changes` allows. Ends with `call.signal`. `onFollowing`: called whenever no change is missed from now on. */
  changes(call: CallContext, onFollowing?: () => void): AsyncIterable<InventoryChange>;
  /** Logs out of every session. */
  close(): Promise<void>;
}
