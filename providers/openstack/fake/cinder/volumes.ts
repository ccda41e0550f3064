/** Cinder's volumes, as far as the zone of a persistent volume is asked for. */
import type { Identifiers } from '../identifiers.ts';
import { isAdmin, Refusal } from '../fake-http.ts';
import { RouteTable } from '../route-table.ts';

export interface FakeVolume {
  readonly id: string;
  readonly name: string;
  readonly projectId: string;
  /** `null` in a cinder without zones. */
  readonly availability_zone: string | null;
}

export class Volumes {
  readonly volumes: Map<string, FakeVolume> = new Map();
  readonly #ids: Identifiers;

  constructor(ids: Identifiers) {
    this.#ids = ids;
  }

  add(volume: Pick<FakeVolume, 'projectId'> & Partial<FakeVolume>): FakeVolume {
    const made = { id: this.#ids.uuid(), name: '', availability_zone: 'nova', ...volume };
    this.volumes.set(made.id, made);
    return made;
  }
}

/** Built from the API reference: the lab has no cinder. */
export function volumeRoutes({ volumes }: Volumes): RouteTable {
  return new RouteTable()
    .on(
      'GET /',
      ({ request }) => ({
        status: 300,
        body: {
          versions: [
            {
              id: 'v3.0',
              status: 'CURRENT',
              version: '3.70',
              min_version: '3.0',
              updated: '2022-08-31T00:00:00Z',
              links: [{ rel: 'self', href: `${request.origin}/volume/v3/` }],
            },
          ],
        },
      }),
      { isPublic: true },
    )
    .on('GET /v3/{project}/volumes/{id}', ({ params, caller }) => {
      const volume = volumes.get(params['id'] ?? '');
      if (!volume || (volume.projectId !== caller.projectId && !isAdmin(caller))) {
        const message = `Volume ${params['id']} could not be found.`;
        throw new Refusal({ status: 404, body: { itemNotFound: { code: 404, message } } });
      }
      return {
        status: 200,
        body: {
          volume: {
            id: volume.id,
            name: volume.name,
            status: 'in-use',
            size: 1,
            availability_zone: volume.availability_zone,
            attachments: [],
            bootable: 'false',
            encrypted: false,
            metadata: {},
            multiattach: false,
            'os-vol-tenant-attr:tenant_id': volume.projectId,
          },
        },
      };
    });
}
