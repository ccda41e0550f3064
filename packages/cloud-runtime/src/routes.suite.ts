/** What every provider's routes must do, whatever the cloud: one suite, a subject for each provider that has routes. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import {
  isCloudError,
  type NodeAddress,
  type NodeRef,
  type Route,
  type RouteRequest,
  type RouteResult,
} from '@outrigger/cloud-provider';
import type { OpenedProvider } from './open-provider.ts';

/** A provider with routes over a cloud that the suite can change. */
export interface RoutesSubject extends AsyncDisposable {
  readonly opened: OpenedProvider;
  /** Makes a machine, and gives the node on it, provider ID included. */
  createInstance(name: string): Promise<NodeRef>;
  deleteInstance(name: string): Promise<void>;
  /** Of the node's machine, where the cloud routes to addresses. Default: none. */
  readonly addressesOf?: (node: NodeRef) => readonly NodeAddress[];
  /** Requests for two routes to each of two machines that nothing is known of. Default: 1. */
  readonly requestsOfBatch?: number;
  /** Makes a route as somebody else would. */
  createForeignRoute(destination: string, node: NodeRef): Promise<void>;
  /** From now on there may be so many routes. */
  limitRoutes(most: number): Promise<void>;
  /** From now on, each request of the cloud fails with this status; 0 ends it; `lost`: does its work, and fails. */
  fail(how: number | 'lost'): Promise<void>;
  requests(): Promise<number>;
}

export function routesSuite(name: string, makeSubject: () => Promise<RoutesSubject>): void {
  const { signal } = new AbortController();
  const use = ({ opened, addressesOf }: RoutesSubject): RoutesUser => {
    const { routes } = opened.capabilities;
    assert.ok(routes, 'the provider has routes');
    const call = opened.callContext({ signal, priority: 'normal' });
    const made = new Set<string>();
    return {
      // Where the cloud keeps no owner with a route, the host says whose it is: those that were made here are.
      list: async () => {
        const listed = (await routes.list(call)).routes;
        assert.ok(listed.every(({ ownership }) => (ownership === 'unmarked') === (routes.unmarked ?? false)));
        return listed.map((route) =>
          route.ownership === 'unmarked' && made.has(route.destination) ? { ...route, ownership: 'owned' } : route,
        );
      },
      create: (requests) => {
        for (const { destination } of requests) made.add(destination);
        return routes.create(requests, call);
      },
      remove: (gone) => routes.delete(gone, call),
      to: (node, destination) => ({ node, addresses: addressesOf?.(node) ?? [], destination }),
      leadsTo: ({ targetProviderID, nextHops = [] }, node) =>
        targetProviderID === undefined
          ? nextHops.length > 0 && nextHops.every((hop) => addressesOf?.(node).some(({ address }) => address === hop))
          : targetProviderID === node.providerID,
    };
  };
  const kinds = (results: readonly RouteResult[]): readonly string[] => results.map(({ kind }) => kind);
  const failsAs = (result: RouteResult | undefined, code: string): void => {
    assert.ok(result?.kind === 'failed' && isCloudError(result.error), `${result?.kind} is not failed`);
    assert.equal(result.error.code, code);
  };

  test(`${name}: a batch of routes is so many requests as it has to be, and is listed as made`, async () => {
    await using subject = await makeSubject();
    const { create, list, to, leadsTo } = use(subject);
    const nodes = [await subject.createInstance('a'), await subject.createInstance('b')];
    const before = await subject.requests();
    const results = await create(
      nodes.flatMap((node, i) => [to(node, `10.0.${i}.0/24`), to(node, `fd00:0:0:${i + 1}::/64`)]),
    );
    assert.deepEqual(kinds(results), ['done', 'done', 'done', 'done']);
    assert.equal((await subject.requests()) - before, subject.requestsOfBatch ?? 1);
    const listed = (await list()).toSorted((x, y) => (x.destination < y.destination ? -1 : 1));
    assert.deepEqual(
      listed.map(({ destination, ownership, blackhole }) => [destination, ownership, blackhole]),
      [
        ['10.0.0.0/24', 'owned', false],
        ['10.0.1.0/24', 'owned', false],
        ['fd00:0:0:1::/64', 'owned', false],
        ['fd00:0:0:2::/64', 'owned', false],
      ],
    );
    for (const [i, route] of listed.entries()) assert.ok(leadsTo(route, nodes[i % 2]!), route.destination);
  });

  test(`${name}: what is there already exists; what leads elsewhere is a conflict, and is not changed`, async () => {
    await using subject = await makeSubject();
    const { create, list, to, leadsTo } = use(subject);
    const [a, b] = [await subject.createInstance('a'), await subject.createInstance('b')];
    await create([to(a, '10.0.0.0/24')]);
    const results = await create([to(a, '10.0.0.0/24'), to(b, '10.0.0.0/24'), to(b, '10.0.1.0/24')]);
    assert.deepEqual(kinds(results), ['exists', 'failed', 'done']);
    failsAs(results[1], 'conflict');
    const listed = (await list()).filter(({ destination }) => destination === '10.0.0.0/24');
    assert.ok(listed.length === 1 && leadsTo(listed[0]!, a));
  });

  test(`${name}: an answer that was lost is found by the next try`, async () => {
    await using subject = await makeSubject();
    const { create, list, to } = use(subject);
    const a = await subject.createInstance('a');
    await subject.fail('lost');
    await create([to(a, '10.0.0.0/24')]).catch((error: unknown) => assert.ok(isCloudError(error)));
    await subject.fail(0);
    assert.deepEqual(kinds(await create([to(a, '10.0.0.0/24')])), ['exists']);
    assert.equal((await list()).length, 1);
  });

  test(`${name}: removing is idempotent; a foreign route is shown, and never removed`, async () => {
    await using subject = await makeSubject();
    const { create, list, remove, to } = use(subject);
    const a = await subject.createInstance('a');
    await create([to(a, '10.0.0.0/24')]);
    await subject.createForeignRoute('10.0.1.0/24', a);
    const all = await list();
    assert.equal(all.filter(isOwned).length, 1);
    assert.equal(all.length, 2);
    const [owned, foreign] = [all.find(isOwned), all.find((route) => !isOwned(route))];
    assert.ok(owned && foreign);
    const results = await remove([foreign, owned]);
    assert.deepEqual(kinds(results), ['failed', 'done']);
    failsAs(results[0], 'not-owned');
    assert.deepEqual(kinds(await remove([owned])), ['done']);
    assert.deepEqual(await list(), [foreign]);
  });

  test(`${name}: a route to a machine that is gone can be removed, and is a blackhole where the cloud knows machines`, async () => {
    await using subject = await makeSubject();
    const { create, list, remove, to } = use(subject);
    await create([to(await subject.createInstance('a'), '10.0.0.0/24')]);
    await subject.deleteInstance('a');
    const left = await list();
    assert.ok(
      left.every(({ blackhole, targetProviderID }) => blackhole || targetProviderID === undefined),
      'gone with its machine, or a blackhole, or without a machine at all',
    );
    await remove(left);
    assert.deepEqual(await list(), []);
  });

  test(`${name}: quota and a machine that does not exist fail the routes concerned alone`, async () => {
    await using subject = await makeSubject();
    const { create, to } = use(subject);
    const [a, b] = [await subject.createInstance('a'), await subject.createInstance('b')];
    await subject.deleteInstance('b');
    const gone = await create([to(b, '10.0.1.0/24'), to(a, '10.0.0.0/24')]);
    assert.deepEqual(kinds(gone), ['failed', 'done']);
    failsAs(gone[0], 'not-found');
    await subject.limitRoutes(2);
    const results = await create([to(a, '10.0.2.0/24'), to(a, '10.0.3.0/24')]);
    assert.deepEqual(kinds(results), ['done', 'failed']);
    failsAs(results[1], 'quota');
  });

  test(`${name}: a list that fails throws a CloudError; it is never a part of one`, async () => {
    await using subject = await makeSubject();
    const { list, create, to } = use(subject);
    await create([to(await subject.createInstance('a'), '10.0.0.0/24')]);
    for (const how of [401, 403, 404, 429, 500, 503]) {
      await subject.fail(how);
      await assert.rejects(list(), (error) => isCloudError(error), `after ${how}`);
    }
    await subject.fail(0);
    assert.equal((await list()).length, 1);
  });
}

interface RoutesUser {
  readonly list: () => Promise<readonly Route[]>;
  readonly create: (requests: readonly RouteRequest[]) => Promise<readonly RouteResult[]>;
  readonly remove: (routes: readonly Route[]) => Promise<readonly RouteResult[]>;
  readonly to: (node: NodeRef, destination: string) => RouteRequest;
  readonly leadsTo: (route: Route, node: NodeRef) => boolean;
}

function isOwned({ ownership }: Route): boolean {
  return ownership === 'owned';
}
