import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { FakeRouterRig } from './fake-router.suite.ts';

const NAMES = ['a', 'b', 'c'];

type Step =
  | { readonly do: 'create' | 'delete'; readonly of: readonly (readonly [node: number, range: number])[] }
  | { readonly do: 'foreign'; readonly range: number; readonly hop: number }
  | {
      readonly do: 'fault';
      readonly effect: 'lost' | 'refused' | 'status';
      readonly at: number;
      readonly status: number;
    }
  | { readonly do: 'meddle'; readonly node: number };

const some = fc.array(fc.tuple(fc.nat({ max: NAMES.length - 1 }), fc.nat({ max: 4 })), { minLength: 1, maxLength: 5 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('create' as const), of: some }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('delete' as const), of: some }) },
  fc.record({ do: fc.constant('foreign' as const), range: fc.nat({ max: 4 }), hop: fc.nat({ max: 3 }) }),
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      effect: fc.constantFrom('lost' as const, 'refused' as const, 'status' as const),
      at: fc.integer({ min: 1, max: 8 }),
      status: fc.constantFrom(400, 401, 403, 404, 409, 412, 429, 500, 503),
    }),
  },
  fc.record({ do: fc.constant('meddle' as const), node: fc.nat({ max: NAMES.length - 1 }) }),
);

const rangeOf = (n: number): string => `10.244.${n}.0/24`;

for (const without of [[], ['extraroute-atomic']]) {
  const name = without.length === 0 ? 'atomic' : 'whole lists';
  test(`property: ${name}: nothing foreign goes, nothing others wrote is lost, and lost answers converge`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        await using rig = await FakeRouterRig.open({ without });
        const { networking } = rig.cloud;
        const nodes = NAMES.map((one) => rig.addNode(one));
        const requestOf = ([node, range]: readonly [number, number]) => rig.request(nodes[node]!, rangeOf(range));
        /** What this program asked for: all else is foreign. */
        const asked = new Set<string>();
        const foreign = new Set<string>();
        const meddled = new Map<string, Set<string>>(NAMES.map((one) => [one, new Set()]));
        const quiet = async (work: Promise<unknown>): Promise<void> => void (await work.catch(() => undefined));
        const hopOf = (request: ReturnType<typeof requestOf>): string => request.addresses[0]?.address ?? '';
        for (const one of steps) {
          if (one.do === 'create') {
            const requests = one.of.map(requestOf);
            for (const request of requests) asked.add(`${request.destination} via ${hopOf(request)}`);
            await quiet(rig.routes.create(requests, rig.call));
          } else if (one.do === 'delete') {
            const ids = new Set(one.of.map(requestOf).map((request) => `${request.destination} via ${hopOf(request)}`));
            const listed = await rig.routes.list(rig.call).catch(() => ({ routes: [] }));
            const gone = listed.routes.filter(({ id }) => ids.has(id));
            const ours = gone.filter(({ id }) => asked.has(id) && !foreign.has(id));
            await quiet(
              rig.routes.delete(
                [...gone, ...ours.map((route) => ({ ...route, ownership: 'owned' as const }))],
                rig.call,
              ),
            );
          } else if (one.do === 'foreign') {
            const hop =
              one.hop < NAMES.length ? (rig.addressesOf(NAMES[one.hop] ?? '')[0]?.address ?? '') : '10.0.200.1';
            const id = `${rangeOf(one.range)} via ${hop}`;
            if (!asked.has(id) && !rig.stored.includes(id)) {
              rig.addForeignRoute(rangeOf(one.range), hop);
              foreign.add(id);
            }
          } else if (one.do === 'fault') {
            const { effect, status, at: nth } = one;
            // The budget would let all wait after a 429.
            if (effect === 'status')
              rig.cloud.faults.set({ effect, status: status === 429 ? 503 : status, service: 'network', nth });
            else rig.cloud.faults.set({ effect, service: 'network', nth });
          } else if (one.do === 'meddle') {
            const port = rig.portOf(NAMES[one.node] ?? '');
            const mine = `172.16.0.${meddled.get(NAMES[one.node] ?? '')?.size ?? 0}`;
            if (port.allowed_address_pairs.length > 3) continue;
            meddled.get(NAMES[one.node] ?? '')?.add(mine);
            networking.ports.change(port, {
              allowed_address_pairs: [...port.allowed_address_pairs, { ip_address: mine }],
            });
          }
          for (const id of foreign) assert.ok(rig.stored.includes(id), `${id} is foreign, and gone`);
          for (const id of rig.stored) assert.ok(asked.has(id) || foreign.has(id), `${id} came from nowhere`);
        }
        rig.cloud.faults.set();
        // Well again: what is asked for now is so, whatever was lost before.
        const finals = nodes.map((node, i) => rig.request(node, rangeOf(i)));
        const isFree = (destination: string, hop: string): boolean =>
          rig.stored.every((id) => !id.startsWith(`${destination} `) || id === `${destination} via ${hop}`);
        const free = finals.filter((request) => isFree(request.destination, hopOf(request)));
        for (const request of free) asked.add(`${request.destination} via ${hopOf(request)}`);
        const results = await rig.routes.create(free, rig.call);
        assert.ok(
          results.every(({ kind }) => kind === 'done' || kind === 'exists'),
          JSON.stringify(results),
        );
        for (const request of free) {
          assert.ok(rig.stored.includes(`${request.destination} via ${hopOf(request)}`));
          assert.ok(rig.pairsOf(request.node.name).includes(request.destination), 'a route without its pair');
        }
        for (const [one, pairs] of meddled) assert.ok([...pairs].every((pair) => rig.pairsOf(one).includes(pair)));
        const { routes } = await rig.routes.list(rig.call);
        const ours = routes.filter(({ id }) => asked.has(id) && !foreign.has(id));
        const removed = await rig.routes.delete(
          ours.map((route) => ({ ...route, ownership: 'owned' })),
          rig.call,
        );
        assert.ok(removed.every(({ kind }) => kind === 'done'));
        assert.deepEqual(rig.stored, [...foreign].toSorted());
      }),
      { numRuns: 50 },
    );
  });
}
