/** What every provider's routes must do, whatever the cloud: one suite, a subject for each provider that has routes. */
import { strict as assert } from 'node:assert';
import { test } from 'node:test';
import { isCloudError, type NodeRef, type Route, type RouteRequest, type RouteResult } from '@outrigger/cloud-provider';
import type { OpenedProvider } from './open-provider.ts';

/** A provider with routes over a cloud that the suite can change. */
export interface RoutesSubject extends AsyncDisposable {
  readonly opened: OpenedProvider;
  /** Makes a machine, and gives the node on it, provider ID included. */
  createInstance(name: string): Promise<NodeRef>;
  deleteInstance(name: string): Promise<void>;
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
  const use = ({ opened }: RoutesSubject): RoutesUser => {
    const { routes } = opened.capabilities;
    assert.ok(routes, 'the provider has routes');
    const call = opened.callContext({ signal, priority: 'normal' });
    return {
      list: async () => (await routes.list(call)).routes,
      create: (requests) => routes.create(requests, call),
      remove: (gone) => routes.delete(gone, call),
    };
  };
  const to = (node: NodeRef, destination: string): RouteRequest => ({ node, addresses: [], destination });
  const kinds = (results: readonly RouteResult[]): readonly string[] => results.map(({ kind }) => kind);
  const failsAs = (result: RouteResult | undefined, code: string): void => {
    assert.ok(result?.kind === 'failed' && isCloudError(result.error), `${result?.kind} is not failed`);
    assert.equal(result.error.code, code);
  };

  test(`${name}: a batch of routes is one request, and is listed as made`, async () => {
    await using subject = await makeSubject();
    const { create, list } = use(subject);
    const nodes = [await subject.createInstance('a'), await subject.createInstance('b')];
    const before = await subject.requests();
    const results = await create(
      nodes.flatMap((node, i) => [to(node, `10.0.${i}.0/24`), to(node, `fd00:0:0:${i + 1}::/64`)]),
    );
    assert.deepEqual(kinds(results), ['done', 'done', 'done', 'done']);
    assert.equal((await subject.requests()) - before, 1);
    const listed = (await list()).toSorted((x, y) => (x.destination < y.destination ? -1 : 1));
    assert.deepEqual(
      listed.map(({ destination, targetProviderID, ownership, blackhole }) => [
        destination,
        targetProviderID,
        ownership,
        blackhole,
      ]),
      [
        ['10.0.0.0/24', nodes[0]?.providerID, 'owned', false],
        ['10.0.1.0/24', nodes[1]?.providerID, 'owned', false],
        ['fd00:0:0:1::/64', nodes[0]?.providerID, 'owned', false],
        ['fd00:0:0:2::/64', nodes[1]?.providerID, 'owned', false],
      ],
    );
  });

  test(`${name}: what is there already exists; what leads elsewhere is a conflict, and is not changed`, async () => {
    await using subject = await makeSubject();
    const { create, list } = use(subject);
    const [a, b] = [await subject.createInstance('a'), await subject.createInstance('b')];
    await create([to(a, '10.0.0.0/24')]);
    const results = await create([to(a, '10.0.0.0/24'), to(b, '10.0.0.0/24'), to(b, '10.0.1.0/24')]);
    assert.deepEqual(kinds(results), ['exists', 'failed', 'done']);
    failsAs(results[1], 'conflict');
    assert.equal(
      (await list()).find(({ destination }) => destination === '10.0.0.0/24')?.targetProviderID,
      a.providerID,
    );
  });

  test(`${name}: an answer that was lost is found by the next try`, async () => {
    await using subject = await makeSubject();
    const { create, list } = use(subject);
    const a = await subject.createInstance('a');
    await subject.fail('lost');
    await create([to(a, '10.0.0.0/24')]).catch((error: unknown) => assert.ok(isCloudError(error)));
    await subject.fail(0);
    assert.deepEqual(kinds(await create([to(a, '10.0.0.0/24')])), ['exists']);
    assert.equal((await list()).length, 1);
  });

  test(`${name}: removing is idempotent; a foreign route is shown, and never removed`, async () => {
    await using subject = await makeSubject();
    const { create, list, remove } = use(subject);
    const a = await subject.createInstance('a');
    await create([to(a, '10.0.0.0/24')]);
    await subject.createForeignRoute('10.0.1.0/24', a);
    const all = await list();
    assert.deepEqual(all.map(({ ownership }) => ownership).toSorted(), ['foreign', 'owned']);
    const [owned, foreign] = [all.find(isOwned), all.find((route) => !isOwned(route))];
    assert.ok(owned && foreign);
    const results = await remove([foreign, owned]);
    assert.deepEqual(kinds(results), ['failed', 'done']);
    failsAs(results[0], 'not-owned');
    assert.deepEqual(kinds(await remove([owned])), ['done']);
    assert.deepEqual(await list(), [foreign]);
  });

  test(`${name}: a route to a machine that is gone is a blackhole, and can be removed`, async () => {
    await using subject = await makeSubject();
    const { create, list, remove } = use(subject);
    await create([to(await subject.createInstance('a'), '10.0.0.0/24')]);
    await subject.deleteInstance('a');
    const left = await list();
    assert.ok(
      left.every(({ blackhole }) => blackhole),
      'gone with its machine, or a blackhole',
    );
    await remove(left);
    assert.deepEqual(await list(), []);
  });

  test(`${name}: quota and a machine that does not exist fail the routes concerned alone`, async () => {
    await using subject = await makeSubject();
    const { create } = use(subject);
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
    const { list, create } = use(subject);
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
}

function isOwned({ ownership }: Route): boolean {
  return ownership === 'owned';
}
