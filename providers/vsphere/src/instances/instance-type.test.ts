import assert from 'node:assert/strict';
import { test } from 'node:test';
import { instanceTypeOf } from './instance-type.ts';

for (const [cpus, memoryMB, guestId, expected] of [
  [4, 16_384, 'ubuntu64Guest', 'vsphere-vm.cpu-4.mem-16gb.os-ubuntu'],
  [1, 32, 'otherGuest', 'vsphere-vm.cpu-1.mem-0gb.os-other'],
  [2, 4_095, 'vmwarePhoton64Guest', 'vsphere-vm.cpu-2.mem-3gb.os-photon'],
  [8, 65_536, 'windows9Server64Guest', 'vsphere-vm.cpu-8.mem-64gb.os-win10server'],
  [2, 2_048, 'otherLinux64Guest', 'vsphere-vm.cpu-2.mem-2gb.os-linux'],
  [2, 2_048, 'debian12_64Guest', 'vsphere-vm.cpu-2.mem-2gb.os-unknown'],
  [undefined, undefined, undefined, 'vsphere-vm.cpu-0.mem-0gb.os-unknown'],
] as const) {
  test(`the instance type ${expected}`, () => {
    assert.equal(instanceTypeOf({ cpus, memoryMB, guestId }), expected);
  });
}
