/** Zone and region of a machine: tags of two categories on the objects around it. Pure. */
import type { AttachedTag, InventoryObject, ManagedObject } from '../inventory/vcenter.ts';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import type { ZoneCategories } from '../config/vsphere-config.ts';

export interface Zone {
  readonly zone: string;
  readonly region: string;
}

/**
 * In which objects it is looked for, the nearest first: host, cluster, folders and datacenter; else resource pool and what that is in; else the
 * machine itself and its folders. Each path has to have both tags. Upstream: `GetZoneByProviderID` (zones.go).
 */
export function zonePaths(
  machine: VirtualMachine,
  surroundings: ReadonlyMap<string, InventoryObject>,
): readonly (readonly ManagedObject[])[] {
  const upFrom = (reference: string | undefined): readonly ManagedObject[] => {
    const path: InventoryObject[] = [];
    for (let at = surroundings.get(reference ?? ''); at && !path.includes(at); at = surroundings.get(at.parent ?? '')) {
      path.push(at);
    }
    return path;
  };
  const itself = { type: 'VirtualMachine', reference: machine.reference };
  return [upFrom(machine.host), upFrom(machine.resourcePool), [itself, ...upFrom(machine.parent)]];
}

/**
 * `undefined`: no path has a tag of both categories. On one path, a tag further up replaces a nearer one of its category as long as the other
 * category has none: that is what upstream does (`LookupZoneByMoref`), and labels of nodes have to be the same.
 */
export function zoneOf(
  paths: readonly (readonly ManagedObject[])[],
  tags: ReadonlyMap<string, readonly AttachedTag[]>,
  categories: ZoneCategories,
): Zone | undefined {
  for (const path of paths) {
    let zone = '';
    let region = '';
    for (const { category, name } of path.flatMap(({ reference }) => tags.get(reference) ?? [])) {
      if (category === categories.zone) zone = name;
      else if (category === categories.region) region = name;
      if (zone !== '' && region !== '') return { zone, region };
    }
  }
  return undefined;
}
