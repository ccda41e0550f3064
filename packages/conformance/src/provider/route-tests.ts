/** What `Routes` promises. */
import { strict as assert } from 'node:assert';
import {
  isCloudError,
  parseCidr,
  type NodeAddress,
  type NodeRef,
  type Route,
  type RouteRequest,
  type RouteResult,
  type Routes,
} from '@outrigger/cloud-provider';
import { FAILURES, STATUSES } from './cloud-failures.ts';
import { has, type ConformanceTest } from './conformance-test.ts';
import { NotVerifiable } from './not-verifiable.ts';
import type { ProviderRig } from './provider-rig.ts';

const TYPES = 'packages/cloud-provider/src/routes.ts';
const HOST = 'docs/reference/what-the-host-does.md#routes';

function promise(
  name: string,
  source: string,
  run: (user: RouteUser, rig: ProviderRig) => Promise<void>,
  more: Pick<ConformanceTest, 'hooks' | 'declares'> = {},
): ConformanceTest {
  return {
    name: `routes / ${name}`,
    feature: 'routes',
    source,
    declares: has('routes'),
    run: (rig) => run(new RouteUser(rig), rig),
    ...more,
  };
}

/** Routes as the route controller uses them. */
class RouteUser {
  readonly rig: ProviderRig;
  readonly #addresses = new Map<string, readonly NodeAddress[]>();
  /** Destinations that were asked for here: whose an `unmarked` route is, the host says. */
  readonly #made = new Set<string>();

  constructor(rig: ProviderRig) {
    this.rig = rig;
    rig.defer(`routes of the cluster ID ${rig.clusterId}`, async () => {
      const results = await this.remove((await this.list()).filter(isOwned));
      for (const result of results) if (result.kind === 'failed') throw result.error;
    });
  }

  get routes(): Routes {
    return this.rig.use('routes');
  }

  async node(name: string): Promise<NodeRef> {
    const { addresses, node } = await this.rig.createBackEnd(name);
    this.#addresses.set(node.name, addresses);
    return node;
  }

  to(node: NodeRef, destination: string): RouteRequest {
    return { node, addresses: this.#addresses.get(node.name) ?? [], destination };
  }

  async list(): Promise<readonly Route[]> {
    const { unmarked = false } = this.routes;
    const { routes } = await this.rig.call('list', (call) => this.routes.list(call));
    for (const { destination, ownership } of routes) {
      assert.equal(ownership === 'unmarked', unmarked, `${destination} is ${ownership}, and unmarked is ${unmarked}`);
    }
    return routes.map((route) =>
      route.ownership === 'unmarked' && this.#made.has(route.destination) ? { ...route, ownership: 'owned' } : route,
    );
  }

  create(...requests: readonly RouteRequest[]): Promise<readonly RouteResult[]> {
    for (const { destination } of requests) this.#made.add(destination);
    const { rig, routes } = this;
    return rig.inBatches(routes, requests, (batch) =>
      rig.call('create', (call) => routes.create(batch, call), { writes: true }),
    );
  }

  remove(unwanted: readonly Route[]): Promise<readonly RouteResult[]> {
    const { rig, routes } = this;
    return rig.inBatches(routes, unwanted, (batch) =>
      rig.call('delete', (call) => routes.delete(batch, call), { writes: true }),
    );
  }

  leadsTo({ nextHops = [], targetProviderID }: Route, node: NodeRef): boolean {
    if (targetProviderID !== undefined) return targetProviderID === node.providerID;
    const addresses = this.#addresses.get(node.name)?.map(({ address }) => address) ?? [];
    return nextHops.length > 0 && nextHops.every((hop) => addresses.includes(hop));
  }
}

export const routeTests: readonly ConformanceTest[] = [
  promise('routes of both families are made in a batch, and listed as made', `${TYPES} Routes.create`, async (user) => {
    const nodes = [await user.node('a'), await user.node('b')];
    const wanted = nodes.flatMap((node, i) => [
      user.to(node, `10.0.${i}.0/24`),
      user.to(node, `fd00:0:0:${i + 1}::/64`),
    ]);
    assert.deepEqual(kindsOf(await user.create(...wanted)), ['done', 'done', 'done', 'done']);
    const listed = await user.list();
    for (const { destination, node } of wanted) {
      const route = listed.filter((one) => one.destination === destination);
      assert.equal(route.length, 1, `${destination} is listed once`);
      assert.ok(
        route[0] && isOwned(route[0]) && !route[0].blackhole,
        `${destination} is the cluster's, and leads somewhere`,
      );
      assert.ok(user.leadsTo(route[0], node), `${destination} leads to ${node.name}`);
    }
    for (const { destination } of listed) assert.equal(parseCidr(destination)?.text, destination, 'in canonical form');
    assert.equal(new Set(listed.map(({ id }) => id)).size, listed.length, 'no ID twice');
  }),

  promise(
    'a batch costs as many requests as are declared',
    `${TYPES} Routes.batchSize`,
    async (user, rig) => {
      const most = rig.fixture.requestsOf?.createRoutes;
      if (most === undefined) throw new NotVerifiable('the fixture does not say requestsOf.createRoutes');
      const nodes = [await user.node('a'), await user.node('b')];
      await user.create();
      rig.faults.set();
      await user.create(
        ...nodes.flatMap((node, i) => [user.to(node, `10.0.${i}.0/24`), user.to(node, `fd00:0:0:${i + 1}::/64`)]),
      );
      assert.equal(rig.faults.count('create'), most, 'requests for two routes to each of two machines');
    },
    { hooks: ['requestsOf'] },
  ),

  promise(
    'what is there exists; what leads elsewhere is a conflict, and is not changed',
    `${TYPES} Routes.create`,
    async (user) => {
      const [a, b] = [await user.node('a'), await user.node('b')];
      await user.create(user.to(a, '10.0.0.0/24'));
      const results = await user.create(
        user.to(a, '10.0.0.0/24'),
        user.to(b, '10.0.0.0/24'),
        user.to(b, '10.0.1.0/24'),
      );
      assert.deepEqual(kindsOf(results), ['exists', 'failed', 'done']);
      failsAs(results[1], 'conflict');
      const listed = (await user.list()).filter(({ destination }) => destination === '10.0.0.0/24');
      assert.ok(listed.length === 1 && listed[0] && user.leadsTo(listed[0], a), 'it leads to where it led before');
    },
  ),

  promise('an answer that is lost is found by the next try', `${TYPES} Routes.create`, async (user, rig) => {
    const a = await user.node('a');
    const wanted = [user.to(a, '10.0.0.0/24'), user.to(a, '10.0.1.0/24')];
    rig.faults.set();
    await user.create(...wanted);
    const requests = rig.faults.count('create');
    await user.remove((await user.list()).filter(isOwned));
    for (let nth = 1; nth <= requests; nth++) {
      rig.faults.set((sent) => (sent.member === 'create' && sent.nth === nth ? { kind: 'lose' } : undefined));
      await user.create(...wanted).catch(cloudErrorAlone);
      rig.faults.set();
      const again = await user.create(...wanted);
      assert.ok(
        kindsOf(again).every((kind) => kind === 'done' || kind === 'exists'),
        kindsOf(again).join(', '),
      );
      assert.equal(
        (await user.list()).filter(isOwned).length,
        2,
        `the answer to request ${nth} of ${requests} was lost`,
      );
      await user.remove((await user.list()).filter(isOwned));
      assert.deepEqual((await user.list()).filter(isOwned), []);
    }
  }),

  promise('a process that dies amid a batch leaves nothing that the next one does not see', HOST, async (user, rig) => {
    const a = await user.node('a');
    const wanted = [user.to(a, '10.0.0.0/24'), user.to(a, '10.0.1.0/24')];
    rig.faults.set();
    await user.create(...wanted);
    const requests = rig.faults.count('create');
    await user.remove((await user.list()).filter(isOwned));
    for (let count = 0; count <= requests; count++) {
      rig.faults.crashAfter(count, 'create');
      await user.create(...wanted).catch(() => undefined);
      await rig.restart();
      await user.create(...wanted);
      assert.equal((await user.list()).filter(isOwned).length, 2, `it died after ${count} of ${requests} requests`);
      rig.faults.crashAfter(count, 'delete');
      await user.remove((await user.list().catch(() => [])).filter(isOwned)).catch(() => undefined);
      await rig.restart();
      await user.remove((await user.list()).filter(isOwned));
      assert.deepEqual((await user.list()).filter(isOwned), []);
    }
  }),

  promise('removing is idempotent, and takes what was asked for alone', `${TYPES} Routes.delete`, async (user) => {
    const a = await user.node('a');
    await user.create(user.to(a, '10.0.0.0/24'), user.to(a, '10.0.1.0/24'));
    const route = (await user.list()).find(({ destination }) => destination === '10.0.0.0/24');
    assert.ok(route);
    assert.deepEqual(kindsOf(await user.remove([route])), ['done']);
    assert.deepEqual(kindsOf(await user.remove([route])), ['done']);
    assert.deepEqual(
      (await user.list()).map(({ destination }) => destination),
      ['10.0.1.0/24'],
    );
    assert.deepEqual(await user.remove([]), []);
  }),

  promise(
    "another's route is shown, and never removed or changed",
    `${TYPES} Route.ownership`,
    async (user, rig) => {
      const a = await user.node('a');
      await user.create(user.to(a, '10.0.0.0/24'));
      await rig.fixture.createForeignRoute?.('10.0.1.0/24', a);
      const all = await user.list();
      const [owned, foreign] = [all.find(isOwned), all.find((route) => route.destination === '10.0.1.0/24')];
      assert.ok(owned && foreign && !isOwned(foreign), 'both are shown, each as what it is');
      const results = await user.remove([foreign, owned]);
      assert.deepEqual(kindsOf(results), ['failed', 'done']);
      failsAs(results[0], 'not-owned');
      assert.deepEqual(
        (await user.list()).map(({ destination }) => destination),
        ['10.0.1.0/24'],
      );
    },
    { hooks: ['createForeignRoute'] },
  ),

  promise(
    "another cluster's route is foreign here",
    `${TYPES} Route.ownership`,
    async (user, rig) => {
      const a = await user.node('a');
      await user.create(user.to(a, '10.0.0.0/24'));
      const other = new RouteUser(await rig.beside());
      const seen = (await other.list()).find(({ destination }) => destination === '10.0.0.0/24');
      assert.ok(seen, 'it is shown, so that a clash is seen');
      if (seen.ownership === 'unmarked')
        throw new NotVerifiable('the cloud keeps no owner with a route; the host decides');
      assert.equal(seen.ownership, 'foreign');
      const results = await other.remove([seen]);
      failsAs(results[0], 'not-owned');
      assert.equal((await user.list()).filter(isOwned).length, 1);
    },
    { declares: { what: 'routes with an owner', holds: ({ routes }) => routes !== undefined && !routes.unmarked } },
  ),

  promise(
    'a route to a machine that is gone can be removed, and is a blackhole where the cloud knows machines',
    `${TYPES} Route.blackhole`,
    async (user, rig) => {
      const a = await user.node('a');
      await user.create(user.to(a, '10.0.0.0/24'));
      await rig.deleteMachine(a);
      const left = await user.list();
      for (const { blackhole, destination, targetProviderID } of left) {
        assert.ok(blackhole || targetProviderID === undefined, `${destination} leads to a machine that is gone`);
      }
      await user.remove(left);
      assert.deepEqual(await user.list(), []);
    },
  ),

  promise('a machine that does not exist fails its routes alone', `${TYPES} RouteResult`, async (user, rig) => {
    const [a, b] = [await user.node('a'), await user.node('b')];
    await rig.deleteMachine(b);
    const results = await user.create(user.to(b, '10.0.1.0/24'), user.to(a, '10.0.0.0/24'));
    assert.deepEqual(kindsOf(results), ['failed', 'done']);
    failsAs(results[0], 'not-found');
  }),

  promise(
    'a quota that is reached fails the routes concerned alone',
    `${TYPES} Routes.create`,
    async (user, rig) => {
      const a = await user.node('a');
      await user.create(user.to(a, '10.0.0.0/24'));
      await rig.fixture.limitRoutes?.(2);
      const results = await user.create(user.to(a, '10.0.2.0/24'), user.to(a, '10.0.3.0/24'));
      assert.deepEqual(kindsOf(results), ['done', 'failed']);
      failsAs(results[1], 'quota');
    },
    { hooks: ['limitRoutes'] },
  ),

  promise('a list that fails throws; it is never a part of one', `${TYPES} Routes.list`, async (user, rig) => {
    const a = await user.node('a');
    await user.create(user.to(a, '10.0.0.0/24'));
    rig.faults.set();
    await user.list();
    const requests = rig.faults.count('list');
    assert.ok(requests > 0, 'list asks the cloud');
    for (const code of FAILURES) {
      for (let nth = 1; nth <= requests; nth++) {
        rig.faults.set((sent) => (sent.nth === nth ? { kind: 'fail', code } : undefined));
        await assert.rejects(
          user.list(),
          (error) => isCloudError(error),
          `request ${nth} of ${requests} ended as ${code}, and a list was given`,
        );
      }
    }
    rig.faults.set();
    await rig.recovers('routes are listed', async () => (await user.list()).length === 1);
  }),

  promise(
    'no status of the cloud is a list',
    `${TYPES} Routes.list`,
    async (user, rig) => {
      const a = await user.node('a');
      await user.create(user.to(a, '10.0.0.0/24'));
      for (const status of STATUSES) {
        await rig.fail({ kind: 'status', status });
        await assert.rejects(user.list(), (error) => isCloudError(error), `after ${status}`);
        await rig.fail(undefined);
        await rig.wait(rig.fixture.clock ? 60_000 : 0);
      }
      assert.equal((await user.list()).length, 1);
    },
    { hooks: ['fail'] },
  ),

  promise('batches at the same time harm each other in nothing', HOST, async (user) => {
    const nodes = [await user.node('a'), await user.node('b'), await user.node('c')];
    await Promise.all(
      nodes.map((node, i) => user.create(user.to(node, `10.1.${i}.0/24`), user.to(node, `10.2.${i}.0/24`))),
    );
    // What clashed is tried again, as the host does.
    for (const [i, node] of nodes.entries()) {
      const results = await user.create(user.to(node, `10.1.${i}.0/24`), user.to(node, `10.2.${i}.0/24`));
      assert.ok(
        kindsOf(results).every((kind) => kind === 'done' || kind === 'exists'),
        kindsOf(results).join(', '),
      );
    }
    const owned = (await user.list()).filter(isOwned);
    assert.equal(owned.length, 6);
    await Promise.all([user.remove(owned.slice(0, 3)), user.remove(owned.slice(3))]);
    await user.remove(await user.list());
    assert.deepEqual((await user.list()).filter(isOwned), []);
  }),
];

function isOwned({ ownership }: Route): boolean {
  return ownership === 'owned';
}

function kindsOf(results: readonly RouteResult[]): readonly string[] {
  return results.map(({ kind }) => kind);
}

function failsAs(result: RouteResult | undefined, code: string): void {
  assert.ok(result?.kind === 'failed' && isCloudError(result.error), `${result?.kind} is not failed`);
  assert.equal(result.error.code, code);
}

function cloudErrorAlone(error: unknown): void {
  assert.ok(isCloudError(error), `not a CloudError: ${String(error)}`);
}
