/** Hosts, clusters, datacenters, folders and resource pools: which of their properties are read, and what they are in. Pure. */
import { CloudError } from '@outrigger/cloud-provider';
import { xmlText } from '@outrigger/provider-kit';
import { managedObjectIn, type ObjectContent, type PropertySpec } from '../client/soap.ts';
import type { InventoryObject } from './vcenter.ts';

const HOST = 'HostSystem';
export const SURROUNDINGS: readonly string[] = [HOST, 'ComputeResource', 'Datacenter', 'Folder', 'ResourcePool'];
const HOST_PATHS = ['runtime.inMaintenanceMode'];
const TASK_PATHS = ['info.descriptionId', 'info.entity', 'info.state'];

/** Of a view. The recent tasks of hosts come with them. */
export const SURROUNDINGS_SPECS: {
  readonly specs: readonly PropertySpec[];
  readonly onward: { readonly type: string; readonly path: string };
} = {
  specs: [
    ...SURROUNDINGS.map((type) => ({ type, paths: ['name', 'parent', ...(type === HOST ? HOST_PATHS : [])] })),
    { type: 'Task', paths: TASK_PATHS },
  ],
  onward: { type: HOST, path: 'recentTask' },
};

/** By reference. */
export function surroundingsIn(contents: readonly ObjectContent[]): ReadonlyMap<string, InventoryObject> {
  const found = new Map<string, InventoryObject>();
  const entering = new Set<string | undefined>();
  for (const content of contents) {
    const { missing, properties, reference, type } = content;
    if (type === 'Task') {
      if (isEntering(content)) entering.add(managedObjectIn(properties.get('info.entity'))?.reference);
      continue;
    }
    // A host is around its machines, whatever is not said of it besides.
    if (missing.has('name') || missing.has('parent')) continue;
    const parent = managedObjectIn(properties.get('parent'))?.reference;
    const isEntered = xmlText(properties.get('runtime.inMaintenanceMode')) === 'true';
    const name = xmlText(properties.get('name')) ?? '';
    found.set(reference, { type, reference, parent, name, ...(isEntered && { maintenance: 'entered' as const }) });
  }
  for (const host of found.values())
    if (entering.has(host.reference) && !host.maintenance)
      found.set(host.reference, { ...host, maintenance: 'entering' });
  return found;
}

/** Those of these names or paths (`/folder/name`), each once. Throws `configuration` for a name that none has. */
export function datacentersIn(
  all: ReadonlyMap<string, InventoryObject>,
  names: readonly string[],
  vcenter: string,
): readonly InventoryObject[] {
  const named = names.flatMap((name) => {
    const path = name.replace(/^\//u, '');
    const fits = [...all.values()].filter(
      (one) => one.type === 'Datacenter' && [one.name, pathOf(one, all)].includes(path),
    );
    if (fits.length > 0) return fits;
    const message = `vCenter ${vcenter} has no datacenter ${JSON.stringify(name)} that the user may see`;
    throw new CloudError('configuration', message);
  });
  return [...new Set(named)];
}

/** By the key of its description: operations of vCenter itself have no name. */
function isEntering({ properties }: ObjectContent): boolean {
  const [of, state] = ['info.descriptionId', 'info.state'].map((path) => xmlText(properties.get(path)) ?? '');
  return of === 'HostSystem.enterMaintenanceMode' && (state === 'queued' || state === 'running');
}

function pathOf(object: InventoryObject, all: ReadonlyMap<string, InventoryObject>): string {
  const parent = all.get(object.parent ?? '');
  // The root folder is in no path.
  return parent?.parent === undefined ? object.name : `${pathOf(parent, all)}/${object.name}`;
}
