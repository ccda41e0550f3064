/** Machines for tests. */
import type { GuestNic, VirtualMachine } from '../inventory/virtual-machine.ts';

export function nic(network: string, ...addresses: readonly string[]): GuestNic {
  return { network, deviceConfigId: 4000, addresses };
}

export const UUID = '422e4956-ad22-1139-6d72-59cc8f26bc90';

export function machine(overrides: Partial<VirtualMachine> = {}): VirtualMachine {
  return {
    reference: 'vm-42',
    name: 'machine-1',
    biosUuid: UUID,
    isTemplate: false,
    connectionState: 'connected',
    powerState: 'poweredOn',
    guestId: 'ubuntu64Guest',
    guestHostName: 'node-1',
    nics: [nic('VM Network', '10.0.0.5')],
    cpus: 4,
    memoryMB: 16_384,
    host: 'host-1',
    resourcePool: 'resgroup-1',
    parent: 'group-v1',
    guestInfo: {},
    ...overrides,
  };
}
