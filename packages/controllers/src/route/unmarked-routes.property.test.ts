import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCidr } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { addressedNode, UnmarkedRig } from './unmarked-rig.suite.ts';

const MINUTE = 60_000;
const NAMES = ['a', 'b', 'c', 'd'];

type Step =
  | { readonly do: 'join' | 'readdress'; readonly node: number; readonly cidr: number; readonly address: number }
  | { readonly do: 'leave'; readonly node: number }
  | { readonly do: 'foreign'; readonly cidr: number; readonly address: number }
  | { readonly do: 'fail'; readonly what: 'before' | 'after' | 'record'; readonly times: number }
  | { readonly do: 'restart' | 'stop' }
  | { readonly do: 'wait'; readonly ms: number };

const node = fc.nat({ max: NAMES.length - 1 });
const cidr = fc.nat({ max: 5 });
const address = fc.nat({ max: 9 });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('join' as const), node, cidr, address }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('readdress' as const), node, cidr, address }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('leave' as const), node }) },
  fc.record({ do: fc.constant('foreign' as const), cidr, address: fc.integer({ min: 0, max: 12 }) }),
  fc.record({
    do: fc.constant('fail' as const),
    what: fc.constantFrom('before' as const, 'after' as const, 'record' as const),
    times: fc.integer({ min: 1, max: 4 }),
  }),
  fc.record({ do: fc.constantFrom('restart' as const, 'stop' as const) }),
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(0, 3_000, 60_000, 700_000) }),
  },
);

const rangeOf = (n: number): string => `10.0.${n}.0/24`;
const addressOf = (n: number): string => `192.168.0.${n}`;

class History {
  readonly rig: UnmarkedRig = new UnmarkedRig();
  /** Made by others, and never one that the rules call ours. */
  readonly foreign = new Set<string>();
  /** What the cluster ever had a claim to: the pod CIDR of a node with an address that this node had then. */
  readonly claimed = new Set<string>();
  #made = 0;
  #runs = true;

  async play(one: Step): Promise<void> {
    const { api, cloud } = this.rig;
    switch (one.do) {
      case 'join':
        this.#join(NAMES[one.node] ?? '', rangeOf(one.cidr), addressOf(one.address));
        return;
      case 'readdress': {
        const before = api.nodes.get(NAMES[one.node] ?? '');
        const to = addressOf(one.address);
        if (!before || this.#isTaken(to)) return;
        api.put({ ...before, status: { ...before.status, addresses: [{ type: 'InternalIP', address: to }] } });
        this.#claim();
        return;
      }
      case 'leave':
        api.remove(NAMES[one.node] ?? '');
        return;
      case 'foreign': {
        const route = `${rangeOf(one.cidr)} via ${addressOf(one.address)}`;
        if (!this.claimed.has(route) && !cloud.routes.has(route)) {
          cloud.routes.add(route);
          this.foreign.add(route);
        }
        return;
      }
      case 'fail': {
        let left = one.times;
        const fail = (): void => {
          if (left-- > 0) throw new Error('refused or lost');
        };
        if (one.what === 'record') this.rig.beforeRecord = fail;
        else cloud[one.what] = fail;
        return;
      }
      case 'restart':
      case 'stop':
        if (this.#runs) await this.rig.stop();
        this.#runs = one.do === 'restart';
        if (this.#runs) await this.rig.start();
        return;
      case 'wait':
        await this.rig.advance(one.ms);
    }
  }

  #isTaken(to: string): boolean {
    return [...this.rig.api.nodes.values()].some(({ status }) => status?.addresses?.[0]?.address === to);
  }

  /** Node IPAM gives no two nodes one range; nor does a network one address. */
  #join(name: string, range: string, to: string): void {
    const { api } = this.rig;
    const isTaken = [...api.nodes.values()].some(({ spec }) => spec?.podCIDRs?.includes(range));
    if (isTaken || api.nodes.has(name) || this.#isTaken(to)) return;
    api.put(addressedNode(name, [range], to, `uid-${name}-${this.#made++}`));
    this.#claim();
  }

  /** By the rule, a route from the pod CIDR of a node to an address of this node is the cluster's. */
  #claim(): void {
    for (const { spec, status } of this.rig.api.nodes.values()) {
      const route = `${spec?.podCIDRs?.[0]} via ${status?.addresses?.[0]?.address}`;
      this.claimed.add(route);
      this.foreign.delete(route);
    }
  }

  async calm(): Promise<void> {
    const { rig } = this;
    rig.cloud.before = () => {};
    rig.cloud.after = () => {};
    rig.beforeRecord = () => {};
    if (!this.#runs) await rig.start();
    for (let i = 0; i < 45; i++) await rig.advance(MINUTE);
  }

  check(): void {
    const { api, cloud } = this.rig;
    for (const route of this.foreign) assert.ok(cloud.routes.has(route), `${route} is foreign, and gone`);
    assert.ok(!cloud.done.some((done) => done.startsWith('- ') && this.foreign.has(done.slice(2))));
    const wanted = new Set<string>();
    /** The old hop goes when the new one is there, which a foreign one keeps away. */
    const blocked = new Set<string>();
    for (const { spec, status } of api.nodes.values()) {
      const range = spec?.podCIDRs?.[0];
      if (range === undefined) continue;
      const route = `${range} via ${status?.addresses?.[0]?.address}`;
      wanted.add(route);
      // Also one that was the cluster's by the rule for a moment only, which no list has seen.
      const isInTheWay = [...cloud.routes].some(
        (other) => other !== route && other.startsWith(`${range} `) && !cloud.done.includes(`+ ${other}`),
      );
      if (isInTheWay) blocked.add(range);
      else assert.ok(cloud.routes.has(route), `${route} is missing`);
    }
    // The last list may be older than the last node: what it made is ours all the same.
    for (const done of cloud.done) {
      const route = done.slice(2);
      if (!done.startsWith('+ ') || wanted.has(route) || blocked.has(route.split(' ')[0] ?? '')) continue;
      assert.ok(!cloud.routes.has(route), `${route} was made, and is leaked`);
    }
    const known = this.rig.recorded.map((line) => line.replace(' ', ' via '));
    assert.ok(
      known.every((route) => parseCidr(route.split(' ')[0] ?? '') && cloud.routes.has(route)),
      'old records',
    );
  }
}

test('property: without owners in the cloud, nothing foreign goes, nothing of ours is leaked, through kill -9 and lost answers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
      const history = new History();
      await using rig = history.rig;
      rig.api.put(addressedNode('last', [], '192.168.0.99'));
      await rig.start();
      for (const one of steps) {
        await history.play(one);
        await rig.settle();
      }
      await history.calm();
      history.check();
    }),
    { numRuns: 60 },
  );
});
