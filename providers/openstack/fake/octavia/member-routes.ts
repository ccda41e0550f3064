/** `/v2.0/lbaas/pools/{pool}/members`: one at a time, or all in one batch. */
import type { Caller } from '../fake-http.ts';
import type { RouteTable } from '../route-table.ts';
import { checkNewMembers, keyOf, memberDefaults, newMember } from './octavia-births.ts';
import { immutable, notFound, octaviaRefusal } from './octavia-error.ts';
import { listShown } from './octavia-list.ts';
import type { FakeMember, FakePool, OctaviaObject } from './octavia-objects.ts';
import type { Octavia } from './octavia.ts';
import { ownerOf } from './pool-routes.ts';
import { attributesOf, checkAttributes, present, type Attributes } from './request-attributes.ts';

const ROOT = '/v2.0/lbaas/pools/{pool}/members';

interface MemberChange {
  readonly created?: readonly OctaviaObject[];
  readonly touched?: readonly OctaviaObject[];
  readonly removed?: readonly OctaviaObject[];
}

export function addMemberRoutes(routes: RouteTable, octavia: Octavia): void {
  const { store, views, provisioning, settings } = octavia;
  const poolOf = (params: Readonly<Record<string, string>>, caller: Caller): FakePool =>
    store.visible(store.pools, 'Pool', params['pool'] ?? '', caller);
  const memberOf = (pool: FakePool, id: string): FakeMember => {
    const member = store.members.get(id);
    if (member?.poolId !== pool.id) throw notFound('Member', id);
    return member;
  };
  const begin = (pool: FakePool, change: MemberChange): void => {
    const loadBalancer = ownerOf(octavia, pool);
    provisioning.begin({
      loadBalancer,
      durationMs: settings.updateMs,
      ...change,
      above: [pool, ...store.listenersOfPool(pool.id)],
      settles: store.listenersOf(loadBalancer.id),
    });
  };
  routes
    .on(`GET ${ROOT}`, ({ request, params, caller }) =>
      listShown('members', store.membersOf(poolOf(params, caller).id), (each) => views.member(each), request),
    )
    .on(`GET ${ROOT}/{id}`, ({ params, caller }) => {
      const member = memberOf(poolOf(params, caller), params['id'] ?? '');
      return { status: 200, body: { member: views.member(member) } };
    })
    .on(`POST ${ROOT}`, ({ request, params, caller }) => {
      const pool = poolOf(params, caller);
      const member = newMember(octavia, pool, attributesOf(request, 'member POST'), caller);
      checkPoolIsMutable(octavia, pool);
      checkNewMembers(octavia, ownerOf(octavia, pool), pool, [member], caller);
      store.addMember(member);
      begin(pool, { created: [member] });
      return { status: 201, body: { member: views.member(member) } };
    })
    .on(`PUT ${ROOT}`, ({ request, params, caller }) => {
      const pool = poolOf(params, caller);
      const isAdditive = request.query.get('additive_only')?.toLowerCase() === 'true';
      const wanted = (request.body as { members?: readonly Attributes[] } | undefined)?.members;
      if (!wanted)
        throw octaviaRefusal(400, "Invalid input for field/attribute members. Value: 'None'. Mandatory field missing.");
      begin(pool, replaceMembers(octavia, pool, wanted, isAdditive, caller));
      return { status: 202, text: '' };
    })
    .on(`PUT ${ROOT}/{id}`, ({ request, params, caller }) => {
      const pool = poolOf(params, caller);
      const member = memberOf(pool, params['id'] ?? '');
      const given = attributesOf(request, 'member PUT');
      checkPoolIsMutable(octavia, pool);
      Object.assign(member, given);
      begin(pool, { touched: [member] });
      return { status: 200, body: { member: views.member(member) } };
    })
    .on(`DELETE ${ROOT}/{id}`, ({ params, caller }) => {
      const pool = poolOf(params, caller);
      const member = memberOf(pool, params['id'] ?? '');
      checkPoolIsMutable(octavia, pool);
      begin(pool, { removed: [member] });
      return { status: 204 };
    });
}

/** The pool is looked at first: one that stays PENDING_CREATE refuses though its load balancer is ACTIVE (seen on Zed). */
export function checkPoolIsMutable(octavia: Octavia, pool: FakePool): void {
  if (pool.provisioning_status !== 'ACTIVE') throw immutable('Pool', pool.id);
  octavia.provisioning.checkMutable(ownerOf(octavia, pool));
}

/** Known by address and port: a member that is there is changed, and counts as pending even where nothing differs. */
function replaceMembers(
  octavia: Octavia,
  pool: FakePool,
  wanted: readonly Attributes[],
  isAdditive: boolean,
  caller: Caller,
): MemberChange {
  const { store } = octavia;
  for (const each of wanted) checkAttributes('member POST', each);
  checkPoolIsMutable(octavia, pool);
  const there = new Map(store.membersOf(pool.id).map((member) => [keyOf(member), member]));
  const created: FakeMember[] = [];
  const touched: [FakeMember, Attributes][] = [];
  for (const each of wanted) {
    const known = there.get(keyOf(each as unknown as FakeMember));
    if (known) touched.push([known, each]);
    else created.push(newMember(octavia, pool, each, caller));
  }
  const kept = new Set(touched.map(([member]) => member));
  const removed = isAdditive ? [] : [...there.values()].filter((member) => !kept.has(member));
  checkNewMembers(octavia, ownerOf(octavia, pool), pool, created, caller);
  for (const [member, given] of touched) Object.assign(member, memberDefaults, present(given));
  for (const member of created) store.addMember(member);
  return { created, touched: [...kept], removed };
}
