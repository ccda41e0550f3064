/** vSphere. See ../README.md. */
export { openVcenter, type OpenVcenterOptions, type VcenterConnection } from './inventory/open-vcenter.ts';
export type {
  ConnectionState,
  GuestAddress,
  GuestNic,
  PowerState,
  VirtualMachine,
} from './inventory/virtual-machine.ts';
export type {
  AttachedTag,
  InventoryChange,
  InventoryObject,
  MachineList,
  ManagedObject,
  Vcenter,
} from './inventory/vcenter.ts';
export type { VcenterCredentials, VcenterSettings, VsphereConfig, ZoneCategories } from './config/vsphere-config.ts';
