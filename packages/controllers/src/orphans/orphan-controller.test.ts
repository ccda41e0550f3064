// Over 400 lines: one rig, and one test for each way in which something that is in use could look like an orphan.
/** The orphan controller over the memory cloud. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, parseCidr, type LoadBalancers } from '@outrigger/cloud-provider';
import { Locks } from '../load-balancer/locks.ts';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { UnmarkedCloud } from '../route/unmarked-rig.suite.ts';
import { GRACE_MS, OrphanRig } from './orphan-rig.suite.ts';

const PASSES_IN_GRACE = GRACE_MS / 600_000;

/** Ten live load balancers, so that one orphan is no landslide. */
function withTen(rig: OrphanRig): OrphanRig {
  for (let i = 0; i < 10; i++) {
    rig.service(`live-${i}`);
    rig.loadBalancer(`live-${i}`);
  }
  return rig;
}

test('what belongs to no Service is reported once it was seen in two passes, and nothing is removed', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start();
  await rig.passes(1);
  assert.equal(rig.events.length, 0);
  assert.equal(rig.metrics.get('outrigger_orphans dns'), undefined);
  await rig.passes(1);
  assert.equal(rig.metrics.get('outrigger_orphans dns'), 1);
  assert.equal(rig.metrics.get('outrigger_orphans address'), 1);
  assert.deepEqual(rig.reasons, ['OrphanedLoadBalancers']);
  assert.match(rig.events[0]?.message ?? '', /1 load balancer .*--orphan-policy=delete: .*UID gone\)/);
  await rig.passes(PASSES_IN_GRACE + 2);
  assert.ok(rig.left.includes('gone'));
  assert.deepEqual(rig.wholeLists, [], 'what managers and images say costs more than the rest of an object');
  assert.equal(rig.warnings.length, 1, 'the log names it once');
  assert.match(rig.warnings[0] ?? '', /^Orphan in the cloud: .*address address-\d+.*UID gone/u);
});

test('with the policy delete it is removed after the grace period, by the steps of the provider, and the gauge goes back', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete' });
  await rig.passes(PASSES_IN_GRACE - 1);
  assert.ok(rig.left.includes('gone'));
  await rig.passes(2);
  assert.equal(rig.left.includes('gone'), false);
  assert.equal(rig.left.length, 10);
  assert.equal(rig.metrics.get('outrigger_orphan_removals_total load-balancer done'), 1);
  assert.ok(rig.reasons.includes('OrphanRemoved'));
  await rig.passes(1);
  assert.equal(rig.metrics.get('outrigger_orphans dns'), 0);
});

test('a dry run removes nothing; it says what it would, until somebody else has done it', async () => {
  await using rig = withTen(new OrphanRig());
  rig.dryRun = true;
  rig.loadBalancer('gone');
  rig.nodes.set('n1', { metadata: { name: 'n1', uid: 'n1' } });
  rig.route('gone', '10.1.4.0/24');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(3);
  assert.ok(rig.left.includes('gone'));
  assert.deepEqual(rig.destinations, ['10.1.4.0/24']);
  assert.equal(rig.planned().length, 5, rig.planned().join());
  for (const { id, tags } of rig.cloud.parts()) if (tags.uid === 'gone') rig.cloud.deletePart(id);
  for (const { id } of rig.cloud.routes()) rig.cloud.deleteRoute(id);
  await rig.passes(1);
  assert.deepEqual(rig.planned(), []);
});

test('what carries the identity of another cluster, or none, is nothing to us', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('theirs', 'cluster-2');
  rig.cloud.createPart({ kind: 'address', tags: {}, attributes: {} });
  rig.route('n1', '10.1.0.0/24', 'cluster-2');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(4);
  assert.deepEqual(rig.events, []);
  assert.equal(rig.cloud.parts().length, 45);
  assert.deepEqual(rig.destinations, ['10.1.0.0/24']);
});

test('after a restore of etcd all newer Services look orphaned: nothing is removed, and that is said', async () => {
  await using rig = new OrphanRig();
  for (let i = 0; i < 10; i++) rig.loadBalancer(`newer-${i}`);
  for (let i = 0; i < 5; i++) {
    rig.service(`older-${i}`);
    rig.loadBalancer(`older-${i}`);
  }
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(5);
  assert.equal(rig.left.length, 15);
  assert.equal(rig.metrics.get('outrigger_orphan_removals_held load-balancer'), 10);
  assert.ok(rig.reasons.includes('OrphanRemovalHeld'));
  // They are made again, or a person has cleaned up: it goes on.
  for (let i = 0; i < 9; i++) rig.service(`newer-${i}`);
  await rig.passes(1);
  assert.equal(rig.metrics.get('outrigger_orphan_removals_held load-balancer'), 0);
  assert.equal(rig.left.includes('newer-9'), false);
  assert.equal(rig.left.length, 14);
});

test('a pass removes no more than --orphan-max-deletions', async () => {
  await using rig = new OrphanRig();
  for (let i = 0; i < 5; i++) rig.loadBalancer(`gone-${i}`);
  await rig.start({ policy: 'delete', gracePeriodMs: 0, maxDeletions: 2, maxFraction: 1 });
  const left: number[] = [];
  for (let i = 0; i < 4; i++) {
    await rig.passes(1);
    left.push(rig.left.length);
  }
  assert.deepEqual(left, [5, 3, 1, 0]);
});

test('those that cannot be removed keep their places from no other, nor from one whose removal has failed once', async () => {
  await using rig = new OrphanRig();
  const stuck = ['busy', 'failing', 'unmoved'];
  for (const uid of [...stuck, 'gone', 'late']) rig.loadBalancer(uid);
  const locks = new Locks();
  assert.ok(locks.tryAcquire('busy', 'another', () => {}));
  let tries = 0;
  await rig.start(
    { policy: 'delete', gracePeriodMs: 0, maxDeletions: 3, maxFraction: 1 },
    ({ loadBalancers, ...others }) => {
      assert.ok(loadBalancers);
      const unwell = Object.create(loadBalancers) as typeof loadBalancers;
      unwell.observe = (services, call) => loadBalancers.observe(services, call);
      unwell.listOwned = (call) => loadBalancers.listOwned(call);
      unwell.plan = (desired, parts) => loadBalancers.plan(desired, parts);
      unwell.apply = async (action, desired, call) => {
        const { uid } = desired.owner;
        if (uid === 'failing' || (uid === 'late' && tries++ === 0)) throw new CloudError('conflict', 'in use');
        return uid === 'unmoved' ? { kind: 'done' } : await loadBalancers.apply(action, desired, call);
      };
      return { ...others, loadBalancers: unwell };
    },
    locks,
  );
  await rig.passes(2);
  assert.deepEqual(rig.left, [...stuck, 'gone', 'late'].toSorted(), 'the longest orphaned first');
  await rig.passes(1);
  assert.deepEqual(rig.left, [...stuck, 'late'].toSorted());
  await rig.passes(2);
  assert.deepEqual(rig.left, stuck);
});

test('a Service that is there when it is to be removed keeps its load balancer', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(1);
  let lists = 0;
  // The second list of the second pass is the one right before the removal.
  rig.beforeList = (plural) => {
    if (plural === 'services' && ++lists === 2) rig.service('gone');
  };
  await rig.passes(1);
  assert.equal(lists, 2);
  assert.ok(rig.left.includes('gone'));
  assert.equal(rig.metrics.get('outrigger_orphan_removals_total load-balancer kept'), 1);
});

test('nothing is removed when the API server or the cloud cannot be read, and what was seen before does not count then', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(1);
  rig.beforeList = () => {
    throw new Error('500');
  };
  await rig.passes(1);
  rig.beforeList = () => {};
  await rig.passes(1);
  assert.ok(rig.left.includes('gone'), 'seen once after the failure');
  rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'status', status: 500 }]);
  await rig.passes(3);
  assert.ok(rig.left.includes('gone'));
  rig.cloud.setFaults([]);
  await rig.passes(2);
  assert.equal(rig.left.includes('gone'), false);
});

test('an API server of another cluster proves nothing: neither reported nor removed is what it does not know', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  rig.clusterUid = 'another-cluster';
  rig.services.delete('live-0');
  await rig.passes(4);
  assert.equal(rig.left.length, 11);
  assert.deepEqual(rig.events, []);
  assert.equal(rig.metrics.get('outrigger_orphan_passes_total partial'), 4);
  rig.clusterUid = CLUSTER;
  rig.service('live-0');
  await rig.passes(2);
  assert.equal(rig.left.includes('gone'), false);
  assert.equal(rig.left.length, 10);
});

test('an API server that is swapped between the list and the removal removes nothing', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  rig.nodes.set('n1', { metadata: { name: 'n1', uid: 'n1' } });
  rig.route('gone-too', '10.1.1.0/24');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(1);
  let lists = 0;
  rig.beforeList = (plural) => {
    if (plural === 'services' && ++lists === 2) rig.clusterUid = 'another-cluster';
  };
  await rig.passes(1);
  assert.equal(lists, 2);
  assert.ok(rig.left.includes('gone'));
  assert.deepEqual(rig.destinations, ['10.1.1.0/24']);
  assert.ok(rig.reasons.includes('OrphanRemovalFailed'));
  rig.beforeList = () => {};
  rig.clusterUid = CLUSTER;
  await rig.passes(3);
  assert.equal(rig.left.includes('gone'), false);
  assert.deepEqual(rig.destinations, []);
});

test('an API server that lists no Service at all is not believed', async () => {
  await using rig = new OrphanRig();
  rig.services.clear();
  rig.loadBalancer('alive');
  await rig.start({ policy: 'delete', gracePeriodMs: 0, maxFraction: 1 });
  await rig.passes(4);
  assert.deepEqual(rig.left, ['alive']);
});

test('an API server that lists no node at all is not believed: not even one route goes', async () => {
  await using rig = new OrphanRig();
  rig.route('alive', '10.1.1.0/24');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(4);
  assert.deepEqual(rig.destinations, ['10.1.1.0/24']);
  assert.deepEqual([...new Set(rig.reasons)], ['OrphanRemovalHeld']);
  rig.nodes.set('another', { metadata: { name: 'another', uid: 'another' } });
  await rig.passes(1);
  assert.deepEqual(rig.destinations, []);
});

test('an empty list of the cloud concludes nothing', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
  await rig.passes(3);
  assert.equal(rig.left.length, 11);
  assert.deepEqual(rig.events, []);
});

test('a look that hides a part of what was just listed removes none of the rest', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  let hides = true;
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, ({ loadBalancers, ...others }) => {
    assert.ok(loadBalancers);
    const unwell = Object.create(loadBalancers) as typeof loadBalancers;
    unwell.listOwned = (call) => loadBalancers.listOwned(call);
    unwell.plan = (desired, parts) => loadBalancers.plan(desired, parts);
    unwell.apply = (action, desired, call) => loadBalancers.apply(action, desired, call);
    unwell.observe = async (services, call) => {
      const observations = await loadBalancers.observe(services, call);
      return observations.map((one) =>
        one.kind === 'parts' && hides
          ? { ...one, parts: one.parts.filter(({ kind }) => kind !== 'load-balancer') }
          : one,
      );
    };
    return { ...others, loadBalancers: unwell };
  });
  await rig.passes(3);
  assert.deepEqual(
    rig.cloud.parts().flatMap(({ kind, tags }) => (tags.uid === 'gone' ? [kind] : [])),
    ['address', 'load-balancer', 'firewall', 'dns'],
  );
  assert.equal(rig.metrics.get('outrigger_orphan_removals_total load-balancer kept'), 2);
  hides = false;
  await rig.passes(1);
  assert.equal(rig.left.includes('gone'), false);
});

test('a part that is still listed, and that the cloud says is gone, keeps nothing else', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, ({ loadBalancers, ...others }) => {
    assert.ok(loadBalancers);
    const behind: LoadBalancers = {
      ...loadBalancers,
      plan: (desired, parts) => loadBalancers.plan(desired, parts),
      apply: (action, desired, call) => loadBalancers.apply(action, desired, call),
      observe: (services, call) => loadBalancers.observe(services, call),
      read: (parts, call) => loadBalancers.read?.(parts, call) ?? Promise.resolve([]),
      listOwned: async (call) => {
        const parts = await loadBalancers.listOwned(call);
        const [one] = parts.filter(({ owner }) => owner?.uid === 'gone');
        return one ? [...parts, { ...one, kind: 'dns', id: 'dns-of-yesterday' }] : parts;
      },
    };
    return { ...others, loadBalancers: behind };
  });
  await rig.passes(3);
  assert.equal(rig.left.includes('gone'), false);
});

test('a load balancer that somebody else works on waits for the next pass', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  const locks = new Locks();
  assert.ok(locks.tryAcquire('gone', 'another', () => {}));
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, undefined, locks);
  await rig.passes(3);
  assert.ok(rig.left.includes('gone'));
  locks.release('gone');
  await rig.passes(1);
  assert.equal(rig.left.includes('gone'), false);
});

test('one that shares the load balancer of a live Service waits for whoever works on that', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  const shared = rig.cloud.parts().find(({ kind, tags }) => kind === 'load-balancer' && tags.uid === 'gone')?.id ?? '';
  const locks = new Locks();
  assert.ok(locks.tryAcquire(shared, 'another', () => {}));
  await rig.start(
    { policy: 'delete', gracePeriodMs: 0 },
    (provider) => {
      assert.ok(provider.loadBalancers);
      provider.loadBalancers.lockKey = ({ uid }, parts = []) =>
        parts.find(({ kind }) => kind === 'load-balancer')?.id ?? uid;
      return provider;
    },
    locks,
  );
  await rig.passes(3);
  assert.ok(rig.left.includes('gone'));
  locks.release(shared);
  await rig.passes(1);
  assert.equal(rig.left.includes('gone'), false);
});

test('a provider whose plan touches what is not the orphan is stopped', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, ({ loadBalancers, ...others }) => {
    assert.ok(loadBalancers);
    const wrong = Object.create(loadBalancers) as typeof loadBalancers;
    wrong.observe = async (services, call) => {
      const all = await loadBalancers.listOwned(call);
      return services.map(() => ({ kind: 'parts', asOf: rig.clock.monotonic(), parts: all }));
    };
    wrong.plan = (_desired, parts) => {
      const actions = parts.map(
        ({ id, kind }) => ({ kind: 'delete', part: kind, id, summary: 'wrong', input: {} }) as const,
      );
      return { actions, complete: false, ingress: [] };
    };
    wrong.apply = (action, desired, call) => loadBalancers.apply(action, desired, call);
    wrong.listOwned = (call) => loadBalancers.listOwned(call);
    return { ...others, loadBalancers: wrong };
  });
  await rig.passes(3);
  assert.equal(rig.left.length, 11);
  assert.ok(rig.reasons.includes('OrphanRemovalFailed'));
});

test('a removal that fails is told and tried again with the next pass', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  let fails = true;
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, ({ loadBalancers, ...others }) => {
    assert.ok(loadBalancers);
    const failing = Object.create(loadBalancers) as typeof loadBalancers;
    failing.observe = (services, call) => loadBalancers.observe(services, call);
    failing.listOwned = (call) => loadBalancers.listOwned(call);
    failing.plan = (desired, parts) => loadBalancers.plan(desired, parts);
    failing.apply = (action, desired, call) =>
      fails
        ? Promise.reject(new CloudError('conflict', 'the address is in use'))
        : loadBalancers.apply(action, desired, call);
    return { ...others, loadBalancers: failing };
  });
  await rig.passes(2);
  assert.match(rig.events.at(-1)?.message ?? '', /the address is in use \(conflict\)/);
  fails = false;
  await rig.passes(1);
  assert.equal(rig.left.includes('gone'), false);
});

test('routes: those that lead to a node, or that a route controller looks after, stay; one of a node that is gone goes', async () => {
  await using rig = new OrphanRig();
  const keep = (name: string, podCIDRs: readonly string[] = []): void => {
    rig.nodes.set(name, { metadata: { name, uid: name }, spec: { podCIDRs: [...podCIDRs] } });
  };
  keep('by-name');
  keep('other', ['10.1.2.0/24']);
  rig.nodes.set('moved', {
    metadata: { name: 'moved', uid: 'moved' },
    spec: { providerID: 'memory://region-1/by-provider-id' },
  });
  rig.route('by-name', '10.1.1.0/24');
  rig.route('by-cidr', '10.1.2.0/24');
  rig.route('by-provider-id', '10.1.3.0/24');
  rig.route('looked-after', '10.200.1.0/24');
  rig.route('gone', '10.1.4.0/24');
  const lookedAfter = [parseCidr('10.200.0.0/16')].filter((range) => range !== undefined);
  await rig.start({ policy: 'delete', gracePeriodMs: 0, lookedAfter });
  await rig.passes(1);
  assert.equal(rig.destinations.length, 5);
  await rig.passes(1);
  assert.deepEqual(rig.destinations.toSorted(), ['10.1.1.0/24', '10.1.2.0/24', '10.1.3.0/24', '10.200.1.0/24']);
  assert.equal(rig.metrics.get('outrigger_orphans route'), 1);
  assert.deepEqual(rig.reasons, ['OrphanedRoutes', 'OrphanRemoved']);
});

test('a node that has come back when its route is to go keeps it', async () => {
  await using rig = new OrphanRig();
  rig.nodes.set('another', { metadata: { name: 'another', uid: 'another' } });
  rig.route('n1', '10.1.1.0/24');
  await rig.start({ policy: 'delete', gracePeriodMs: 0 });
  await rig.passes(1);
  let lists = 0;
  rig.beforeList = (plural) => {
    if (plural === 'nodes' && ++lists === 2) rig.nodes.set('n1', { metadata: { name: 'n1', uid: 'n1' } });
  };
  await rig.passes(1);
  assert.equal(lists, 2);
  assert.deepEqual(rig.destinations, ['10.1.1.0/24']);
});

test('it explains what it has found, by the UID, a part, or a route', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  rig.route('n1', '10.1.1.0/24');
  await rig.start();
  assert.equal(rig.controller?.explain('gone'), undefined);
  await rig.passes(2);
  const finding = rig.controller?.explain('gone');
  assert.deepEqual(finding?.planned, [{ text: 'Only reported, because of --orphan-policy.' }]);
  assert.equal(finding?.observed.length, 4);
  assert.ok(rig.controller?.explain('10.1.1.0/24'));
  assert.equal(rig.controller?.explain('live-1'), undefined);
  const [listed, ...others] = rig.controller?.list?.('service') ?? [];
  assert.deepEqual(others, []);
  assert.deepEqual([listed?.name, listed?.state, listed?.planned], ['gone', 'orphan', finding?.planned]);
  assert.deepEqual(
    listed?.parts?.map(({ kind, state }) => `${kind} ${state}`),
    ['address ready', 'load-balancer ready', 'firewall ready', 'dns ready'],
  );
  assert.deepEqual(
    Array.from(rig.controller?.list?.('route') ?? [], ({ name }) => name),
    ['10.1.1.0/24'],
  );
});

test('without owners in the cloud, a route is an orphan by the record alone', async () => {
  await using rig = new OrphanRig();
  const unmarked = new UnmarkedCloud(rig.clock);
  for (const n of [1, 2, 3, 4]) unmarked.routes.add(`10.1.${n}.0/24 via 192.168.0.${n}`);
  // Of a live node; of a node that is gone; and two that were never made here, one to where the gone node was.
  rig.nodes.set('one', {
    metadata: { name: 'one', uid: 'one' },
    spec: { podCIDRs: ['10.1.1.0/24'] },
    status: { addresses: [{ type: 'InternalIP', address: '192.168.0.1' }] },
  });
  unmarked.routes.add('10.1.5.0/24 via 192.168.0.2');
  rig.record = { memory: '10.1.1.0/24 192.168.0.1\n10.1.2.0/24 192.168.0.2', other: '10.1.3.0/24 192.168.0.3' };
  await rig.start({ policy: 'delete', gracePeriodMs: 0, maxFraction: 1 }, () => ({ routes: unmarked }));
  await rig.passes(4);
  assert.deepEqual(unmarked.done, ['- 10.1.2.0/24 via 192.168.0.2']);
});

test('a record of routes that cannot be read keeps no load balancer from being found, and takes no route for an orphan', async () => {
  await using rig = withTen(new OrphanRig());
  const unmarked = new UnmarkedCloud(rig.clock);
  unmarked.routes.add('10.1.2.0/24 via 192.168.0.2');
  rig.loadBalancer('gone');
  rig.recordFails = true;
  await rig.start({ policy: 'report' }, (provider) => ({ ...provider, routes: unmarked }));
  await rig.passes(2);
  assert.ok(rig.controller?.explain('gone'));
  assert.equal(rig.controller?.explain('10.1.2.0/24'), undefined);
});

test('another cluster’s record of routes takes none for an orphan, and an Event says whose it is', async () => {
  await using rig = new OrphanRig();
  const unmarked = new UnmarkedCloud(rig.clock);
  unmarked.routes.add('10.1.2.0/24 via 192.168.0.2');
  rig.record = { memory: '10.1.2.0/24 192.168.0.2', 'memory.cluster-id': 'cluster-of-the-backup' };
  await rig.start({ policy: 'delete', gracePeriodMs: 0, maxFraction: 1 }, () => ({ routes: unmarked }));
  await rig.passes(2);
  assert.deepEqual([unmarked.done, rig.reasons], [[], ['RouteRecordUnusable']]);
  assert.match(rig.events[0]?.message ?? '', /cluster-of-the-backup/);
});

test('looks and direct questions of a removal are reads, its actions are not', async () => {
  await using rig = withTen(new OrphanRig());
  rig.loadBalancer('gone');
  const seen: [what: string, isForReads: boolean][] = [];
  let hides = false;
  await rig.start({ policy: 'delete', gracePeriodMs: 0 }, ({ loadBalancers, ...others }) => {
    assert.ok(loadBalancers);
    const watched = Object.create(loadBalancers) as LoadBalancers;
    watched.listOwned = (call) => loadBalancers.listOwned(call);
    watched.plan = (desired, parts) => loadBalancers.plan(desired, parts);
    watched.observe = async (services, call) => {
      seen.push(['observe', rig.isForReads(call)]);
      const observations = await loadBalancers.observe(services, call);
      return observations.map((one) => (hides && one.kind === 'parts' ? { ...one, parts: one.parts.slice(1) } : one));
    };
    watched.read = async (parts, call) => {
      seen.push(['read', rig.isForReads(call)]);
      return (await loadBalancers.read?.(parts, call)) ?? [];
    };
    watched.apply = (action, desired, call) => {
      seen.push(['apply', rig.isForReads(call)]);
      return loadBalancers.apply(action, desired, call);
    };
    return { ...others, loadBalancers: watched };
  });
  hides = true;
  await rig.passes(2);
  hides = false;
  await rig.passes(1);
  assert.deepEqual([...new Set(seen.map((one) => one.join(' ')))], ['observe true', 'read true', 'apply false']);
});
