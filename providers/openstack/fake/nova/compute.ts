/** The servers there are: what a test makes, changes and takes away. */
import type { Identifiers } from '../identifiers.ts';
import { STATES, type FakeFlavor, type FakeServer } from './server.ts';

export type NewServer = Pick<FakeServer, 'name' | 'projectId'> & Partial<Omit<FakeServer, 'created' | 'updated'>>;

export class Compute {
  /** The highest microversion, as the minor number. Default: 93, Zed's. */
  maxMicroversion = 93;
  /** Most servers of a page, nova's `[api] max_limit`. Default: 1000. */
  maxLimit = 1000;
  readonly flavors: Map<string, FakeFlavor> = new Map();
  readonly #ids: Identifiers;
  readonly #servers = new Map<string, FakeServer>();
  readonly #removed = new Map<string, FakeServer>();
  readonly #downCells = new Set<string>();
  #newestFirst: readonly FakeServer[] | undefined;
  #positions: ReadonlyMap<string, number> | undefined;

  constructor(ids: Identifiers) {
    this.#ids = ids;
  }

  addFlavor(name: string, { vcpus = 4, ram = 8192, disk = 80 }: Partial<FakeFlavor> = {}): FakeFlavor {
    const flavor = { id: this.#ids.uuid(), name, vcpus, ram, disk };
    this.flavors.set(flavor.id, flavor);
    return flavor;
  }

  /** Without ports: `Network.addPort` makes those. Default: ACTIVE, in `cell1` and `az-1`. */
  addServer(server: NewServer): FakeServer {
    const now = this.#ids.timestamp();
    const made: FakeServer = {
      id: this.#ids.uuid(),
      userId: '',
      status: 'ACTIVE',
      flavor: this.#anyFlavor(),
      zone: 'az-1',
      cell: 'cell1',
      metadata: {},
      accessIPv4: '',
      accessIPv6: '',
      tags: [],
      lockReason: undefined,
      ...server,
      created: now,
      updated: now,
    };
    this.#servers.set(made.id, made);
    this.#forget();
    return made;
  }

  update(id: string, change: Partial<Omit<FakeServer, 'id' | 'projectId' | 'created'>>): FakeServer {
    const server = this.#servers.get(id);
    if (!server) throw new Error(`there is no server ${id}`);
    if (change.status !== undefined && !(change.status in STATES))
      throw new Error(`there is no status ${change.status}`);
    Object.assign(server, { updated: this.#ids.timestamp() }, change);
    return server;
  }

  /** Gone: 404 from now on. What was done with it stays known until `archive`. */
  remove(id: string): boolean {
    const server = this.#servers.get(id);
    if (server) this.#removed.set(id, server);
    this.#forget();
    return this.#servers.delete(id);
  }

  /** Nothing is known any more of servers that are gone: `nova-manage db archive_deleted_rows`. */
  archive(): void {
    this.#removed.clear();
  }

  removed(id: string): FakeServer | undefined {
    return this.#removed.get(id);
  }

  server(id: string): FakeServer | undefined {
    return this.#servers.get(id);
  }

  /** As lists are sorted by default: the newest first. */
  newestFirst(): readonly FakeServer[] {
    this.#newestFirst ??= [...this.#servers.values()].reverse();
    return this.#newestFirst;
  }

  /** Where in `newestFirst` a server is. */
  position(id: string): number | undefined {
    this.#positions ??= new Map(this.newestFirst().map((server, index) => [server.id, index]));
    return this.#positions.get(id);
  }

  /** The cell's database no longer answers. */
  loseCell(cell: string): void {
    this.#downCells.add(cell);
  }

  restoreCell(cell: string): void {
    this.#downCells.delete(cell);
  }

  isDown({ cell }: FakeServer): boolean {
    return this.#downCells.has(cell);
  }

  #anyFlavor(): FakeFlavor {
    const [flavor] = this.flavors.values();
    return flavor ?? this.addFlavor('m1.large');
  }

  #forget(): void {
    this.#newestFirst = undefined;
    this.#positions = undefined;
  }
}
