/** From the pool of a listener, its members and its monitor to those that should be. Pure. */
import { familyIn } from '../desired/address-families.ts';
import type { DesiredHealthMonitor, DesiredMember, DesiredPool } from '../desired/desired-tree.ts';
import type { ObservedListener, ObservedMember, ObservedMonitor, ObservedPool } from '../observed-tree.ts';
import { affinityTag } from '../ownership.ts';
import { placeOf } from '../places-of-children.ts';
import {
  HELD,
  healthOf,
  mending,
  missingTags,
  NOTHING,
  removePool,
  removing,
  together,
  WAITING,
  type Diff,
  type Step,
  type TreeContext,
} from './diff.ts';
import { memberBody, type MemberSubnet, monitorBody, monitorSettings, poolBody, poolTags } from './octavia-bodies.ts';
import { deleteRequest, memberRequest, postRequest, putMembersRequest, putRequest } from './octavia-requests.ts';

export function diffPool(wanted: DesiredPool, listener: ObservedListener, context: TreeContext): Diff {
  const body = poolBody(wanted, context.tags);
  const creation: Step = {
    summary: `create the pool ${wanted.name}`,
    request: postRequest('pools', { ...body, listener_id: listener.id }),
  };
  const there = listener.pool;
  if (!there) return { steps: [creation], waiting: false };
  const health = healthOf(there, body);
  if (health === 'waiting') return WAITING;
  const mend = (steps: readonly Step[]): readonly Step[] => mending(there, placeOf.pool(listener), body, steps);
  if (there.protocol !== wanted.protocol) {
    const removal = removing(there, removePool(there.id, there.name));
    return removal ? { steps: together([removal, creation]), waiting: false } : HELD;
  }
  if (health === 'held') return HELD;
  if (health === 'rebuild') return { steps: mend([removePool(there.id, there.name), creation]), waiting: false };
  const serial = context.tree.loadBalancer.serial;
  const members = diffMembers(wanted.members, there, { loadBalancer: context.loadBalancer, serial });
  const monitor = diffMonitor(wanted.monitor, there);
  if (members.waiting || monitor.waiting) return WAITING;
  const below = [...members.steps, ...monitor.steps];
  // Octavia takes no change of members while their pool is PENDING_CREATE, and one of the pool itself.
  const touched = health === 'finish';
  const changes = {
    ...((touched || there.lbMethod !== wanted.lbMethod) && { lb_algorithm: wanted.lbMethod }),
    ...diffPersistence(wanted, there),
    ...missingTags(there, poolTags(wanted, context.tags)),
  };
  const update: readonly Step[] =
    Object.keys(changes).length === 0
      ? []
      : [{ summary: `update the pool ${wanted.name}`, request: putRequest('pools', there.id, changes) }];
  // Octavia of Zed takes no change of members while their pool is not ACTIVE.
  if (there.status === 'ERROR') return { steps: mend(update), waiting: false };
  return { steps: [...update, ...below], waiting: false, isHeld: members.isHeld || monitor.isHeld };
}

/** What the Service has asked for goes with its wish. What it never asked for is an operator's, as with CPO, which sets it at creation alone. */
function diffPersistence(
  { sessionPersistence: wanted }: DesiredPool,
  there: ObservedPool,
): Readonly<Record<string, unknown>> {
  if (wanted) return wanted.type === there.sessionPersistence ? {} : { session_persistence: wanted };
  if (!there.tags.includes(affinityTag)) return {};
  return { session_persistence: null, tags: there.tags.filter((tag) => tag !== affinityTag) };
}

export function diffMembers(
  wanted: readonly DesiredMember[],
  pool: ObservedPool,
  { loadBalancer, serial }: Pick<TreeContext, 'loadBalancer'> & { readonly serial: boolean },
): Diff {
  const inError = pool.members.find(({ status }) => status === 'ERROR');
  // Not where they are checked: members alone are planned with the ports that are there.
  const wish = wanted.map(endPointOf);
  const pending = pool.members.filter(({ status }) => status !== 'ERROR' && status !== 'ACTIVE');
  if (pending.some(({ late }) => late === 'no')) return WAITING;
  if (inError && healthOf(inError, wish) === 'held') return HELD;
  const stuck = pending.filter(({ late }) => late === 'rebuild');
  if (stuck.length > 0) {
    // The next pass puts them back.
    const steps = stuck.map(({ id, name }) => ({
      summary: `remove the member ${name} from ${pool.name}: it was never finished`,
      request: memberRequest('DELETE', pool.id, id),
    }));
    return { steps, waiting: false };
  }
  const there = new Set(pool.members.map(keyOf));
  const same = there.size === wanted.length && wanted.every((member) => there.has(keyOf(member)));
  if (same && !inError && pending.length === 0) return NOTHING;
  // Those that serve are among them: a change that fails puts all that it names in ERROR, and leaves the load balancer as it was.
  const mend = (steps: readonly Step[]): readonly Step[] =>
    inError ? mending(inError, placeOf.members(pool), wish, steps) : steps;
  const subnet: MemberSubnet = {
    family: familyIn(loadBalancer.vipAddress ?? ''),
    id: loadBalancer.vipSubnetId ?? undefined,
  };
  // OVN adds a member that it has never made by the batch alone.
  if (serial && !(inError && loadBalancer.provider === 'ovn'))
    return { steps: mend(oneByOne(wanted, pool, subnet)), waiting: false };
  const summary = `set the ${wanted.length} members of ${pool.name}`;
  // Zed takes it back too where nothing is said of it, but nobody promises that.
  const body = wanted.map((member) => ({ monitor_port: null, ...memberBody(member, subnet) }));
  const stay = new Set(wanted.map(endPointOf));
  const leavesOut = pool.members.some((one) => !stay.has(endPointOf(one)));
  return { steps: mend([{ summary, request: putMembersRequest(pool.id, body), leavesOut }]), waiting: false };
}

/** By it a member of a pool is known. */
export const endPointOf = ({ address, port }: Pick<DesiredMember, 'address' | 'port'>): string => `${address} ${port}`;

function oneByOne(wanted: readonly DesiredMember[], pool: ObservedPool, subnet: MemberSubnet): readonly Step[] {
  const known = new Map(pool.members.map((one) => [endPointOf(one), one]));
  const stay = new Set(wanted.map(endPointOf));
  const additions = wanted.flatMap((member): readonly Step[] => {
    const there = known.get(endPointOf(member));
    if (!there) {
      const request = memberRequest('POST', pool.id, undefined, memberBody(member, subnet));
      return [{ summary: `add the member ${member.name} to ${pool.name}`, request }];
    }
    if (keyOf(there) === keyOf(member) && there.status === 'ACTIVE') return [];
    const body = { name: member.name, monitor_port: member.monitorPort ?? null };
    return [
      {
        summary: `update the member ${member.name} of ${pool.name}`,
        request: memberRequest('PUT', pool.id, there.id, body),
      },
    ];
  });
  const removals = pool.members
    .filter((one) => !stay.has(endPointOf(one)))
    .map(({ id, name }) => ({
      summary: `remove the member ${name} from ${pool.name}`,
      request: memberRequest('DELETE', pool.id, id),
    }));
  return [...additions, ...removals];
}

/** Of one that is wanted and of one that is there. A port that is said differs for CPO from one that is not, whichever it is. */
const keyOf = (one: DesiredMember | ObservedMember): string =>
  `${endPointOf(one)} ${one.monitorPort ?? ''} ${one.name}`;

function diffMonitor(wanted: DesiredHealthMonitor | undefined, pool: ObservedPool): Diff {
  const there = pool.monitor;
  const creation = (monitor: DesiredHealthMonitor): Step => ({
    summary: `create the ${monitor.type} health monitor of ${pool.name}`,
    request: postRequest('healthmonitors', { ...monitorBody(monitor), pool_id: pool.id }),
  });
  const removal = ({ id }: ObservedMonitor): Step => ({
    summary: `delete the health monitor of ${pool.name}`,
    request: deleteRequest('healthmonitors', id),
  });
  if (!there) return wanted ? { steps: [creation(wanted)], waiting: false } : NOTHING;
  const health = healthOf(there, wanted ?? null);
  if (health === 'waiting') return WAITING;
  if (there.type !== wanted?.type) {
    const first = removing(there, removal(there));
    return first ? { steps: together([first, ...(wanted ? [creation(wanted)] : [])]), waiting: false } : HELD;
  }
  const mend = (steps: readonly Step[]): readonly Step[] => mending(there, placeOf.monitor(pool), wanted, steps);
  if (health === 'held') return HELD;
  if (health === 'rebuild') return { steps: mend([removal(there), creation(wanted)]), waiting: false };
  const settings = monitorSettings(wanted);
  if (health === 'ready' && JSON.stringify(settings) === JSON.stringify(monitorSettings(there))) return NOTHING;
  const request = putRequest('healthmonitors', there.id, settings);
  return { steps: mend([{ summary: `update the health monitor of ${pool.name}`, request }]), waiting: false };
}
