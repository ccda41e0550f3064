// Over 400 lines: one table of parts, and one test for each promise about them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  ClusterPlace,
  isCloudError,
  type BackEnd,
  type LoadBalancerPart,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { FakeClock } from '@outrigger/testing';
import { ownerIn, tagsOf } from './owner-tags.ts';
import { callOf, desiredOf, kindsOf, loadBalancersOf, ME, PartCloud, serviceOf } from './part-cloud.suite.ts';
import type { PartKind } from './part-kind.ts';
import { inOrder } from './plan-parts.ts';

const clock = new FakeClock();
const call = callOf(clock);

function without(kind: PartKind, member: 'claim' | 'read'): PartKind {
  const copy: { -readonly [Member in keyof PartKind]: PartKind[Member] } = { ...kind };
  delete copy[member];
  return copy;
}

async function partsOf(balancers: LoadBalancers, service = serviceOf([80])): Promise<readonly LoadBalancerPart[]> {
  const [seen] = await balancers.observe([service], call);
  assert.ok(seen?.kind === 'parts');
  return seen.parts;
}

/** Looks and does what is planned until there is nothing more; gives back each plan's lines. */
async function bring(balancers: LoadBalancers, desired = desiredOf(serviceOf([80]))): Promise<readonly string[][]> {
  const lines: string[][] = [];
  for (;;) {
    const plan = balancers.plan(desired, await partsOf(balancers, desired.service));
    if (plan.actions.length === 0) return lines;
    lines.push(plan.actions.map(({ summary = '' }) => summary));
    for (const action of plan.actions) await balancers.apply(action, desired, call);
  }
}

test('parts are made after those that they need, changed in place, and go in the opposite order', async () => {
  const balancers = loadBalancersOf(new PartCloud(false));
  assert.deepEqual(await bring(balancers), [
    ['make the address', 'make the pool TCP-80'],
    ['make the load-balancer'],
    ['make the dns'],
  ]);
  assert.deepEqual(await bring(balancers, desiredOf(serviceOf([80]), ['a', 'c'])), [['change members of the pool']]);
  // The load balancer leaves the pool before that one goes.
  assert.deepEqual(await bring(balancers, desiredOf(serviceOf([443]), ['a', 'c'])), [
    ['make the pool TCP-443'],
    ['change poolIds of the load-balancer', 'delete the pool'],
  ]);
  assert.deepEqual(await bring(balancers, desiredOf(serviceOf([443], 'large'), ['a', 'c'])), [
    ['delete the dns', 'delete the load-balancer'],
    ['make the load-balancer'],
    ['make the dns'],
  ]);
  assert.deepEqual(await bring(balancers, desiredOf(serviceOf([443], 'large'), [], false)), [
    ['delete the dns', 'delete the load-balancer', 'delete the pool', 'delete the address'],
  ]);
});

test('a change that takes a member, or another element of a list, away may cut traffic; one that adds one does not', async () => {
  const balancers = loadBalancersOf(new PartCloud(false));
  await bring(balancers, desiredOf(serviceOf([80]), ['a', 'b']));
  const parts = await partsOf(balancers);
  const cuts = (desired: ReturnType<typeof desiredOf>): readonly (readonly unknown[])[] =>
    [balancers.plan(desired, parts), balancers.planMembers?.(desired, parts)].map((plan) =>
      (plan?.actions ?? []).map(({ mayCutTraffic }) => mayCutTraffic),
    );
  assert.deepEqual(cuts(desiredOf(serviceOf([80]), ['b', 'a', 'c'])), [[undefined], [undefined]]);
  assert.deepEqual(cuts(desiredOf(serviceOf([80]), ['b', 'c'])), [[true], [true]]);
});

test('of thousands of members it costs little to see that none goes', async () => {
  const balancers = loadBalancersOf(new PartCloud(false));
  const names = Array.from({ length: 5_000 }, (_, i) => `node-${i}`);
  await bring(balancers, desiredOf(serviceOf([80]), names));
  const parts = await partsOf(balancers);
  const desired = desiredOf(serviceOf([80]), ['one-more', ...names]);
  const { user: before } = process.threadCpuUsage();
  const { actions } = balancers.plan(desired, parts);
  const ms = (process.threadCpuUsage().user - before) / 1_000;
  assert.equal(actions.length, 1);
  assert.ok(ms < 60, `${ms} ms`);
});

test('where requests take effect later, what hangs on one waits for the next look', async () => {
  const cloud = new PartCloud(true);
  const balancers = loadBalancersOf(cloud);
  const desired = desiredOf(serviceOf([80]));
  const [first] = balancers.plan(desired, []).actions;
  assert.deepEqual(await balancers.apply(first!, desired, call), {
    kind: 'pending',
    handle: 'address-1',
    pollAfterMs: 10,
    made: { kind: 'address', id: 'address-1' },
  });
  const { actions, complete } = balancers.plan(desired, await partsOf(balancers));
  assert.deepEqual([actions.map(({ summary = '' }) => summary), complete], [['make the pool TCP-80'], false]);
});

test('the address is said when all is there and ready: the parts’ own, or what the provider says', async () => {
  const cloud = new PartCloud(false);
  const balancers = loadBalancersOf(cloud);
  await bring(balancers);
  const parts = (await partsOf(balancers)).map((part) =>
    part.kind === 'address' ? { ...part, addresses: ['203.0.113.7'] } : part,
  );
  const desired = desiredOf(serviceOf([80]));
  assert.deepEqual(balancers.plan(desired, parts), {
    actions: [],
    complete: true,
    ingress: [{ ip: '203.0.113.7', ipMode: 'VIP' }],
  });
  const changed = balancers.plan(desiredOf(serviceOf([80]), ['x']), parts);
  assert.deepEqual([changed.ingress, changed.complete], [[], false]);
  const named = loadBalancersOf(cloud, {
    ingress: (_own, { service }) => [{ hostname: `${service.name}.acme` }],
  });
  assert.deepEqual(named.plan(desired, parts).ingress, [{ hostname: 'web.acme' }]);
});

test('a wish that cannot be is refused, and the members of what is there go on following the nodes', async () => {
  const cloud = new PartCloud(false);
  const balancers = loadBalancersOf(cloud);
  await bring(balancers, desiredOf(serviceOf([80, 443])));
  const parts = await partsOf(balancers);
  const refused = desiredOf(serviceOf([80], 'huge'), ['c']);
  const plan = balancers.plan(refused, parts);
  assert.ok(isCloudError(plan.refused, 'invalid') && plan.actions.length === 0);
  const members = balancers.planMembers?.(refused, parts);
  assert.deepEqual(
    members?.actions.map(({ kind, id, input }) => [kind, id, input['attributes']]),
    [
      ['update', 'pool-2', { port: 80, nodePort: 30_080, members: ['c'] }],
      // Its node port is not known any more, and stays.
      ['update', 'pool-3', { port: 443, nodePort: 30_443, members: ['c'] }],
    ],
  );
  assert.equal(members?.complete, false);
  for (const action of members?.actions ?? []) await balancers.apply(action, refused, call);
  assert.deepEqual(balancers.planMembers?.(refused, await partsOf(balancers)), {
    actions: [],
    complete: true,
    ingress: [],
  });
  const busy = parts.map((part) => ({ ...part, state: 'pending' as const }));
  assert.deepEqual(balancers.planMembers?.(refused, busy).actions, []);
  const broken = loadBalancersOf(cloud, {
    kinds: kindsOf(cloud).map((kind) => ({
      ...kind,
      wanted: () => {
        throw new TypeError('a mistake');
      },
    })),
  });
  assert.throws(() => broken.plan(refused, parts), TypeError, 'a mistake is no refusal');
});

test('a predecessor’s parts are found by their address, those to adopt by their names, and claimed before all else', async () => {
  const cloud = new PartCloud(false);
  const [left, named, foreign] = [undefined, undefined, { ...ME, uid: 'other' }].map((owner) =>
    cloud.add('address', owner, {}),
  );
  const kinds = kindsOf(cloud).map((kind) => ({
    ...kind,
    list: async () =>
      (await kind.list(call)).map((part) => (part.id === left!.id ? { ...part, addresses: ['192.0.2.1'] } : part)),
  }));
  const service = serviceOf([80], undefined, {
    ingress: [{ ip: '192.0.2.1' }, { hostname: 'x' }],
    adopt: [named!, foreign!].map(({ id }) => ({ kind: 'address', id })),
  });
  const balancers = loadBalancersOf(cloud, { kinds });
  const parts = await partsOf(balancers, service);
  assert.deepEqual(new Set(parts.map(({ id }) => id)), new Set([left!.id, named!.id, foreign!.id]));
  const desired = desiredOf(service);
  const plan = balancers.plan(desired, parts);
  assert.deepEqual(
    plan.actions.map(({ kind, id }) => [kind, id]),
    [
      ['claim', left!.id],
      ['claim', named!.id],
    ],
  );
  for (const action of plan.actions) assert.deepEqual(await balancers.apply(action, desired, call), { kind: 'done' });
  assert.deepEqual(left!.owner, ME);

  const unable = loadBalancersOf(cloud, { kinds: kinds.map((kind) => without(kind, 'claim')) });
  assert.equal(
    (await partsOf(unable, { ...service, uid: 'third' })).length,
    0,
    'what cannot be taken over is not shown',
  );
});

test('a part is asked about directly: there, nobody’s, another’s, gone, or not to be found out', async () => {
  const cloud = new PartCloud(false);
  const [mine, nobodys, others] = [ME, undefined, { ...ME, clusterId: 'b' }].map((owner) =>
    cloud.add('address', owner, {}),
  );
  const ask = (id: string) => ({ kind: 'address', id, owner: ME });
  const balancers = loadBalancersOf(cloud);
  assert.deepEqual(
    await balancers.read?.(
      [mine!, nobodys!, others!, { id: 'gone' }].map(({ id }) => ask(id)),
      call,
    ),
    [
      { kind: 'there' },
      { kind: 'there', isUnowned: true },
      { kind: 'absent', proof: `address ${others!.id} belongs to me of cluster b` },
      { kind: 'absent', proof: 'GET gone: 404' },
    ],
  );
  assert.deepEqual(balancers.namedByOwner, []);
  // Nothing is said of it, and it stands in the way of no other question.
  const [unknown, known] = (await balancers.read?.([{ ...ask('1'), kind: 'moon' }, ask(mine!.id)], call)) ?? [];
  assert.ok(unknown?.kind === 'failed' && isCloudError(unknown.error, 'unsupported'));
  assert.deepEqual(known, { kind: 'there' });
  const kinds = kindsOf(cloud).map((kind) => ({
    ...kind,
    readNamed: async (owner: typeof ME) => {
      if (owner.uid === 'down') throw new CloudError('unavailable', '503');
      if (owner.uid !== ME.uid) throw new CloudError('not-found', 'GET by name: 404');
      return { ...mine! };
    },
  }));
  const named = loadBalancersOf(cloud, { kinds });
  assert.deepEqual(named.namedByOwner?.toSorted(), ['address', 'dns', 'load-balancer', 'pool']);
  const answers = await named.read?.(
    ['me', 'x', 'down'].map((uid) => ({ kind: 'address', owner: { ...ME, uid } })),
    call,
  );
  assert.deepEqual(
    answers?.map(({ kind }) => kind),
    ['there', 'absent', 'failed'],
  );
  const blind = loadBalancersOf(cloud, { kinds: kinds.map((kind) => without(kind, 'read')) });
  assert.ok(!blind.read);
});

test('what is gone already is deleted; other refusals are told; a plan of an unknown kind is a mistake', async () => {
  const cloud = new PartCloud(false);
  const balancers = loadBalancersOf(cloud);
  const desired = desiredOf(serviceOf([80]), [], false);
  const gone = { kind: 'delete', part: 'address', id: 'gone', summary: '', input: {} } as const;
  assert.deepEqual(await balancers.apply(gone, desired, call), { kind: 'done' });
  await bring(balancers);
  const used = { ...gone, id: 'address-1' };
  await assert.rejects(balancers.apply(used, desired, call), (error) => isCloudError(error, 'conflict'));
  await assert.rejects(balancers.apply({ ...gone, part: 'moon' }, desired, call), /moon is no kind of part of acme/);
});

test('what else a provider says is passed on: options, others, back ends of its own nodes, orphans of the cluster', async () => {
  const cloud = new PartCloud(false);
  cloud.add('address', { ...ME, uid: 'gone' }, {});
  cloud.add('address', { ...ME, clusterId: 'b' }, {});
  const others = [{ kind: 'network', id: 'n', allowed: ['*'] }];
  const balancers = loadBalancersOf(cloud, {
    others: async ({ name }) => {
      if (name === 'web') return others;
      throw new CloudError('unavailable', 'networks');
    },
    lockKey: ({ name }) => name,
    validate: async () => ({ warnings: ['full'] }),
    selectBackEnds: (_service, backEnds) => backEnds.slice(0, 1),
    consistency: 'strong',
    listLagMs: 5,
    batchSize: 7,
    annotations: [],
  });
  const seen = await balancers.observe([serviceOf([80]), serviceOf([80], undefined, { name: 'x' })], call);
  assert.deepEqual(
    seen.map((one) => (one.kind === 'parts' ? one.others : one.error.message)),
    [others, 'networks'],
  );
  assert.deepEqual(
    [balancers.lockKey?.(serviceOf([80])), balancers.consistency, balancers.listLagMs, balancers.batchSize],
    ['web', 'strong', 5, 7],
  );
  assert.deepEqual(await balancers.validate?.(serviceOf([80]), call), { warnings: ['full'] });
  const { backEnds } = desiredOf(serviceOf([80]), ['a', 'b']);
  const alien = { ...backEnds[0]!, node: { ...backEnds[0]!.node, providerID: 'other://a' } };
  assert.deepEqual(balancers.selectBackEnds?.(serviceOf([80]), [alien, ...backEnds]), backEnds.slice(0, 1));
  const takesAll = loadBalancersOf(cloud, { takesForeignNodes: true });
  assert.equal(takesAll.takesForeignNodes, true);
  assert.deepEqual(takesAll.selectBackEnds?.(serviceOf([80]), [alien, ...backEnds]), [alien, ...backEnds]);
  assert.deepEqual(
    (await balancers.listOwned(call)).map(({ owner }) => owner?.uid),
    ['gone'],
  );
});

test('the nodes are gone through once for all Services, and are the same array where all are its own', () => {
  let visited = 0;
  const nodes = (count: number, alien = 0): readonly BackEnd[] =>
    Array.from({ length: count }, (_, i): BackEnd => ({
      addresses: [],
      get node(): BackEnd['node'] {
        visited += 1;
        const providerID = i < alien ? `other://n${i}` : `acme://n${i}`;
        return { name: `n${i}`, uid: `u${i}`, providerID, labels: {}, annotations: {} };
      },
    }));
  const balancers = loadBalancersOf(new PartCloud(false));
  for (const all of [nodes(5_000), nodes(5_000, 1)]) {
    visited = 0;
    const first = balancers.selectBackEnds?.(serviceOf([80]), all);
    for (let i = 0; i < 1_000; i++) {
      assert.equal(balancers.selectBackEnds?.(serviceOf([80], undefined, { uid: `${i}` }), all), first);
    }
    assert.equal(visited, all.length);
  }
  const all = nodes(3);
  assert.equal(balancers.selectBackEnds?.(serviceOf([80]), all), all);
});

test('a name that another has refuses the plan, says nothing else of the other, and holds up no deletion', async () => {
  const cloud = new PartCloud(false);
  const kinds = kindsOf(cloud).map((kind) => ({
    ...kind,
    ...(kind.kind === 'dns' && {
      clashes: ({ attributes }: LoadBalancerPart, { name }: { readonly name: string }) => attributes['name'] === name,
    }),
  }));
  const balancers = loadBalancersOf(cloud, { kinds });
  const owners = [
    [{ ...ME, uid: 'secret' }, 'conflict'],
    [{ clusterId: 'secret', uid: ME.uid }, 'not-owned'],
  ] as const;
  for (const [owner, code] of owners) {
    const taken = cloud.add('dns', owner, { name: 'web' });
    const parts = await partsOf(balancers);
    assert.deepEqual(
      parts.map(({ id }) => id),
      [taken.id],
    );
    const { actions, refused } = balancers.plan(desiredOf(serviceOf([80])), parts);
    assert.ok(actions.length === 0 && isCloudError(refused, code));
    assert.doesNotMatch(refused.message, /secret/);
    assert.equal(balancers.plan(desiredOf(serviceOf([80]), [], false), parts).complete, true);
    cloud.parts.clear();
  }
  cloud.add('dns', { ...ME, uid: 'other' }, { name: 'another' });
  assert.deepEqual(await partsOf(balancers), []);
});

test('what a part touches goes with its actions, and kinds that need one another are refused', () => {
  const cloud = new PartCloud(false);
  const network = { kind: 'network', id: 'n' };
  const kinds = kindsOf(cloud)
    .filter(({ kind }) => kind === 'address')
    .map((kind) => ({ ...kind, wanted: () => [{ attributes: { v: 1 }, touches: [network] }] }));
  const balancers = loadBalancersOf(cloud, { kinds });
  const old = { kind: 'address', id: '1', owner: ME, state: 'ready', attributes: { v: 0 } } as const;
  for (const parts of [[], [old]]) {
    assert.deepEqual(balancers.plan(desiredOf(serviceOf([80])), parts).actions[0]?.touches, [network]);
  }
  const [first] = kinds;
  const circle = [
    { ...first!, kind: 'a', needs: ['b'] },
    { ...first!, kind: 'b', needs: ['a'] },
  ];
  assert.throws(() => inOrder(circle), /a → b → a/);
  assert.throws(() => inOrder([circle[0]!]), /a needs b, which is no kind/);
});

test('the owner is two tags; with one of them it is nobody’s', () => {
  assert.deepEqual(ownerIn(tagsOf(ME)), ME);
  assert.equal(ownerIn({ 'outrigger-uid': 'x' }), undefined);
  assert.equal(ownerIn(undefined), undefined);
});

test('with a ClusterPlace, a "not found" of another account proves nothing, but of a part that was seen here it does', async () => {
  const place = new ClusterPlace({ what: 'account', setBy: 'token in the cloud config', ask: async () => 'account-1' });
  const cloud = new PartCloud(false);
  const later = new FakeClock();
  const balancers = loadBalancersOf(cloud, { place }, later);
  const [never, seen] = [{ kind: 'address', id: 'never-seen', owner: ME }, cloud.add('address', ME, {})];
  const kindOf = async (id: string): Promise<string | undefined> => {
    const [answer] = (await balancers.read?.([{ ...never, id }], call)) ?? [];
    return answer?.kind === 'failed' && isCloudError(answer.error) ? answer.error.code : answer?.kind;
  };
  assert.equal(await kindOf(never.id), 'retry-after', 'the nodes may not have been looked up yet');
  await later.advance(60_000);
  assert.equal(await kindOf(never.id), 'configuration');
  await partsOf(balancers);
  cloud.remove(seen.id);
  assert.equal(await kindOf(seen.id), 'absent');
  place.sawById();
  assert.equal(await kindOf(never.id), 'absent', 'a machine of the cluster is here');
});

test('a child goes with the part that takes it along, and alone where that one stays', async () => {
  const cloud = new PartCloud(false);
  const kinds = kindsOf(cloud).map((kind) => (kind.kind === 'dns' ? { ...kind, goesWith: 'load-balancer' } : kind));
  const balancers = loadBalancersOf(cloud, { kinds });
  const desired = desiredOf(serviceOf([80]));
  await bring(balancers, desired);
  const parts = await partsOf(balancers);
  const [first, ...others] = balancers.plan({ ...desired, wanted: false }, parts).actions;
  const dns = parts.find(({ kind }) => kind === 'dns')!;
  assert.deepEqual([first?.part, first?.ends], ['load-balancer', [{ kind: 'dns', id: dns.id }]]);
  assert.deepEqual(
    others.map(({ part }) => part),
    ['pool', 'address'],
  );
  const leaving = parts.map((part) => (part.kind === 'load-balancer' ? { ...part, state: 'deleting' as const } : part));
  assert.deepEqual(
    balancers.plan({ ...desired, wanted: false }, leaving).actions.map(({ part }) => part),
    ['pool', 'address'],
  );
  const second: LoadBalancerPart = { ...dns, id: 'dns-9', attributes: { ...dns.attributes, key: 'old' } };
  assert.deepEqual(
    balancers.plan(desired, [...parts, second]).actions.map(({ id, kind }) => [kind, id]),
    [['delete', 'dns-9']],
  );
});

test('what goes with a part that is taken over comes with it, and what goes with another does not', async () => {
  const cloud = new PartCloud(false);
  const desired = desiredOf(serviceOf([80]));
  await bring(loadBalancersOf(cloud, { kinds: kindsOf(cloud) }), desired);
  const stranger = cloud.add('load-balancer', { ...ME, uid: 'other' }, { pools: [] });
  cloud.add('dns', undefined, { name: 'web', target: stranger.id });
  const mine = [...cloud.parts.values()].filter(({ owner }) => owner?.uid === ME.uid);
  for (const part of mine) part.owner = undefined;
  const kinds = kindsOf(cloud).map((kind): PartKind =>
    kind.kind === 'dns'
      ? { ...without(kind, 'claim'), goesWith: 'load-balancer' }
      : { ...kind, isPredecessors: () => true },
  );
  const balancers = loadBalancersOf(cloud, { kinds });
  const parts = await partsOf(balancers);
  assert.deepEqual(new Set(parts.map(({ id }) => id)), new Set(mine.map(({ id }) => id)));
  const claimed = mine.filter(({ kind }) => kind !== 'dns').map(({ id }) => id);
  const { actions } = balancers.plan(desired, parts);
  assert.deepEqual(
    [new Set(actions.map(({ kind }) => kind)), actions.map(({ id }) => id)],
    [new Set(['claim']), claimed],
  );
  const taken = parts.map((part) => ({ ...part, owner: ME }));
  assert.deepEqual(balancers.plan(desired, taken).actions, [], 'nothing is to be made beside what is taken over');
  const adopting = { ...desired.service, adopt: [{ kind: 'load-balancer', id: stranger.id }] };
  const shown = (await partsOf(balancers, adopting)).filter(({ id }) => mine.every((part) => part.id !== id));
  assert.deepEqual(
    shown.map(({ id, owner }) => [id, owner?.uid]),
    [[stranger.id, 'other']],
    'what goes with another Service’s part is not claimed by naming that part',
  );
});

test('what takes requests while it is pending holds up nothing but the status', async () => {
  const cloud = new PartCloud(false);
  const kinds = kindsOf(cloud).map((kind) =>
    kind.kind === 'load-balancer' ? { ...kind, takesRequestsWhilePending: true } : kind,
  );
  const desired = desiredOf(serviceOf([80]));
  const balancers = loadBalancersOf(cloud, { kinds, ingress: () => [{ hostname: 'web.acme' }] });
  await bring(balancers, desired);
  const provisioning = (await partsOf(balancers)).map((part) =>
    part.kind === 'load-balancer' ? { ...part, state: 'pending' as const } : part,
  );
  const young = provisioning.filter(({ kind }) => kind !== 'dns');
  assert.deepEqual(
    balancers.plan(desired, young).actions.map(({ summary }) => summary),
    ['make the dns'],
  );
  assert.deepEqual(balancers.plan(desired, provisioning), { actions: [], complete: false, ingress: [] });
  const pools = balancers.plan(desiredOf(serviceOf([80, 81])), provisioning).actions;
  assert.deepEqual(
    pools.map(({ summary }) => summary),
    ['make the pool TCP-81'],
  );
});

test('a kind says itself what a predecessor has made for a Service, is told of which Services a look is, and what to warn of', async () => {
  const cloud = new PartCloud(false);
  const mine = cloud.add('address', undefined, { name: 'web' });
  cloud.add('address', undefined, { name: 'other' });
  const asked: (readonly string[] | undefined)[] = [];
  const kinds = kindsOf(cloud).map((kind): PartKind => ({
    ...kind,
    isPredecessors: ({ attributes }, { name }) => attributes['name'] === name,
    list: (each, services) => {
      if (kind.kind === 'dns') asked.push(services?.map(({ uid }) => uid));
      return kind.list(each, services);
    },
  }));
  const balancers = loadBalancersOf(cloud, {
    kinds,
    warnings: ({ service }) => [{ reason: 'Odd', message: service.name }],
  });
  assert.deepEqual(
    (await partsOf(balancers)).map(({ id }) => id),
    [mine.id],
  );
  await balancers.listOwned(call);
  assert.deepEqual(asked, [['me'], undefined]);
  await bring(balancers);
  const plan = balancers.plan(desiredOf(serviceOf([80])), await partsOf(balancers));
  assert.deepEqual([plan.complete, plan.warnings], [true, [{ reason: 'Odd', message: 'web' }]]);
});
