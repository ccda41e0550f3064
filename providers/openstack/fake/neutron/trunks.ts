/** Trunks: a server's port that carries others. There only where the extension `trunk` is, which the lab has not. */
import type { Identifiers } from '../identifiers.ts';
import type { RouteTable } from '../route-table.ts';
import { Collection, type StandardAttributes } from './collection.ts';
import { neutronRefusal } from './neutron-error.ts';
import type { NetworkExtensions } from './network-extensions.ts';
import { listItems } from './list-query.ts';

export interface FakeTrunk extends StandardAttributes {
  readonly name: string;
  readonly admin_state_up: boolean;
  readonly status: string;
  readonly port_id: string;
  readonly sub_ports: readonly {
    readonly port_id: string;
    readonly segmentation_type: 'vlan';
    readonly segmentation_id: number;
  }[];
}

export class Trunks {
  readonly trunks: Collection<FakeTrunk>;

  constructor(ids: Identifiers) {
    this.trunks = new Collection({
      ids,
      kind: 'Trunk',
      notFound: (id) => `Trunk ${id} could not be found.`,
      indexed: ['port_id'],
    });
  }

  add(trunk: Pick<FakeTrunk, 'project_id' | 'port_id' | 'sub_ports'>): FakeTrunk {
    return this.trunks.add({ name: '', admin_state_up: true, status: 'ACTIVE', ...trunk });
  }
}

export function addTrunkRoutes(routes: RouteTable, { trunks }: Trunks, extensions: NetworkExtensions): void {
  const options = { plural: 'trunks', collection: trunks, filters: ['port_id', 'admin_state_up'] };
  routes.on('GET /v2.0/trunks', ({ request, caller }) => {
    if (extensions.aliases.has('trunk')) return listItems(options, request, caller);
    throw neutronRefusal(404, 'HTTPNotFound', 'The resource could not be found.');
  });
}
