/** The members of pools, from one look to the next: those of a pool that has not changed are not asked for again. */
import type { ObservedMember } from '../observed-tree.ts';
import type { WirePool } from '../octavia-wire.ts';

/** Of all pools. */
const MOST_MEMBERS = 20_000;

interface Known {
  readonly updatedAt: WirePool['updated_at'];
  readonly members: readonly ObservedMember[];
}

/**
 * Octavia stamps a pool with each change of one of its members, when it begins and when it ends, so a pool with the time and the IDs of members
 * that it had has the members that it had. That time has whole seconds: of two changes in one second, the second is not seen where it gives a member
 * another name or monitor port and nothing else, until the pool's next change.
 * Source: octavia/api/v2/controllers/member.py (`test_and_set_lb_and_listeners_prov_status`), octavia/db/models.py (`TimestampMixin`).
 */
export class KnownMembers {
  /** By the pool's ID; what was of no use for longest comes first. */
  readonly #known = new Map<string, Known>();
  #count = 0;

  /** What `list` would show, which is asked unless it is known. */
  async read(pool: WirePool, list: () => Promise<readonly ObservedMember[]>): Promise<readonly ObservedMember[]> {
    const known = this.#known.get(pool.id);
    if (known && isOf(known, pool)) {
      this.#keep(pool.id, known);
      return known.members;
    }
    this.#forget(pool.id);
    const read: Known = { updatedAt: pool.updated_at, members: await list() };
    // In the middle of a change, or changed since the pool was listed: of no use to the next look.
    const isSettled = typeof read.updatedAt === 'string' && read.members.every(({ status }) => status === 'ACTIVE');
    if (isSettled && isOf(read, pool)) this.#keep(pool.id, read);
    return read.members;
  }

  #keep(id: string, known: Known): void {
    this.#forget(id);
    this.#known.set(id, known);
    this.#count += known.members.length;
    for (const oldest of this.#known.keys()) {
      if (this.#count <= MOST_MEMBERS) return;
      this.#forget(oldest);
    }
  }

  #forget(id: string): void {
    this.#count -= this.#known.get(id)?.members.length ?? 0;
    this.#known.delete(id);
  }
}

function isOf({ members, updatedAt }: Known, pool: WirePool): boolean {
  if (pool.provisioning_status !== 'ACTIVE' || pool.updated_at !== updatedAt) return false;
  const ids = new Set(pool.members.map(({ id }) => id));
  return ids.size === members.length && members.every(({ id }) => ids.has(id));
}
