/** A virtual machine, as far as a node needs to know of it: plain data, so that what is concluded from it is pure. */

/** `VirtualMachine.runtime.connectionState`. Only of a `connected` one vCenter knows what it says. */
export type ConnectionState = 'connected' | 'disconnected' | 'orphaned' | 'inaccessible' | 'invalid';

export type PowerState = 'poweredOn' | 'poweredOff' | 'suspended';

/** An address of a network interface, as VMware Tools report it (`GuestNicInfo.ipConfig.ipAddress`). */
export interface GuestAddress {
  readonly address: string;
  /** Absent where Tools are too old to say it. */
  readonly prefixLength?: number | undefined;
}

/** A network interface, as VMware Tools report it (`GuestNicInfo`), in their order. */
export interface GuestNic {
  /** Name of the port group or network. Absent for what has none. */
  readonly network?: string | undefined;
  readonly macAddress?: string | undefined;
  /** Key of the virtual device; -1 for an interface that has none, such as a bridge of the guest. */
  readonly deviceConfigId: number;
  readonly isConnected: boolean;
  readonly addresses: readonly GuestAddress[];
}

export interface VirtualMachine {
  /** Its managed object reference: `vm-42`. Another one after it was registered anew. */
  readonly reference: string;
  readonly name: string;
  /** `config.uuid`, the BIOS UUID, in lower case. Absent: vCenter does not know its configuration, as of an inaccessible one. */
  readonly biosUuid?: string | undefined;
  /** `config.instanceUuid`, in lower case: vCenter keeps it unique in its inventory. */
  readonly instanceUuid?: string | undefined;
  readonly isTemplate: boolean;
  readonly connectionState?: ConnectionState | undefined;
  readonly powerState?: PowerState | undefined;
  /** `config.guestId`, `guest.hostName`, `guest.ipAddress`: absent until it is known. */
  readonly guestId?: string | undefined;
  readonly guestFullName?: string | undefined;
  readonly guestHostName?: string | undefined;
  readonly guestAddress?: string | undefined;
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
