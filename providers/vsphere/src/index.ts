/** vSphere. See ../README.md. */
import type { ProviderFactory } from '@outrigger/cloud-provider';
import { createVsphereProvider } from './vsphere-provider.ts';

const factory: ProviderFactory = (options) => createVsphereProvider(options);
export default factory;

export { createVsphereProvider, type VsphereEnvironment, type VsphereProviderOptions } from './vsphere-provider.ts';
export { openVcenter, type OpenVcenterOptions, type VcenterConnection } from './inventory/open-vcenter.ts';
export type { ConnectionState, GuestNic, PowerState, VirtualMachine } from './inventory/virtual-machine.ts';
export type {
  AttachedTag,
  InventoryChange,
  InventoryObject,
  ListOptions,
  MachineList,
  ManagedObject,
  TagOptions,
  Vcenter,
} from './inventory/vcenter.ts';
export type { VcenterCredentials } from './client/sign-in.ts';
export type { VcenterSettings, VsphereConfig, ZoneCategories } from './config/vsphere-config.ts';
