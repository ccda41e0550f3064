/** A virtual machine, as far as a node needs to know of it: plain data, so that what is concluded from it is pure. */

/** `VirtualMachine.runtime.connectionState`. Only of a `connected` one vCenter knows what it says. */
export type ConnectionState = 'connected' | 'disconnected' | 'orphaned' | 'inaccessible' | 'invalid';

export type PowerState = 'poweredOn' | 'poweredOff' | 'suspended';

/** A network interface, as VMware Tools report it (`GuestNicInfo`), in their order. */
export interface GuestNic {
  /** Name of the port group or network. Absent for what has none. */
  readonly network?: string | undefined;
  /** Key of the virtual device; -1 for an interface that has none, such as a bridge of the guest. */
  readonly deviceConfigId: number;
  /** Without their prefixes. */
  readonly addresses: readonly string[];
}

export interface VirtualMachine {
  /** Its managed object reference: `vm-42`. Another one after it was registered anew. */
  readonly reference: string;
  readonly name: string;
  /** `config.uuid`, the BIOS UUID, in lower case. Absent: vCenter does not know its configuration, as of an inaccessible one. */
  readonly biosUuid?: string | undefined;
  readonly isTemplate: boolean;
  readonly connectionState?: ConnectionState | undefined;
  readonly powerState?: PowerState | undefined;
  /** `config.guestId`, `guest.hostName`: absent until it is known. */
  readonly guestId?: string | undefined;
  readonly guestHostName?: string | undefined;
  readonly nics: readonly GuestNic[];
  readonly cpus?: number | undefined;
  readonly memoryMB?: number | undefined;
  /** References of the objects around it: `host-21`, `resgroup-8`, `group-v3`. */
  readonly host?: string | undefined;
  readonly resourcePool?: string | undefined;
  readonly parent?: string | undefined;
  /** `guestinfo.…` of its extra configuration that is in use here. */
  readonly guestInfo: Readonly<Record<string, string>>;
}
