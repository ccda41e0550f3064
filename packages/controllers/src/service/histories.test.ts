/** Random histories: Services and nodes come, change and go while the program dies and the cloud fails. Nothing is leaked or lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { CLUSTER } from '../load-balancer/memory-provider.suite.ts';
import { ask, createRig, nodeOf, webSpec, type Asking, type Rig } from './rig.suite.ts';

const NAMES = ['a', 'b', 'c'];

/** What happens to a call: it is lost before or after it took effect, takes effect later, or the program dies around it. */
type Mishap = 'lost-before' | 'lost-after' | 'late' | 'die-before' | 'die-after';

interface Step {
  readonly what: 'create' | 'ports' | 'delete' | 'cluster-ip' | 'other-class' | 'node' | 'no-node' | 'wait' | 'restart';
  readonly name: string;
  readonly waitMs: number;
  /** On the n-th action in the cloud, or patch, from here. */
  readonly mishap: { readonly what: Mishap; readonly on: 'action' | 'patch'; readonly nth: number } | undefined;
}

const step: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    ...(['create', 'create', 'ports', 'delete', 'delete', 'cluster-ip', 'other-class', 'node', 'no-node'] as const),
    ...(['wait', 'restart'] as const),
  ),
  name: fc.constantFrom(...NAMES),
  waitMs: fc.constantFrom(0, 0, 10, 1_000, 6_000, 40_000),
  mishap: fc.option(
    fc.record({
      what: fc.constantFrom<Mishap>('lost-before', 'lost-after', 'late', 'die-before', 'die-after'),
      on: fc.constantFrom('action', 'patch'),
      nth: fc.integer({ min: 1, max: 5 }),
    }),
    { nil: undefined },
  ),
});

/** A new process finds out again what there is; an old one has to know. `delayMs`: of the cloud, for a load balancer. */
const anEnd = fc.record({
  delayMs: fc.constantFrom(0, 4_000),
  restarts: fc.boolean(),
  asking: fc.constantFrom<Asking>('named', 'named', 'by-id', 'never'),
});

class Dead extends Error {}

/** Lets one process run at a time; after its death nothing that it does has an effect. */
class World {
  readonly rig: Rig;
  #mishap: (NonNullable<Step['mishap']> & { left: number }) | undefined;
  #dead = false;
  dying: boolean = false;

  constructor(rig: Rig) {
    this.rig = rig;
    const { api, provider } = rig;
    provider.before = (action, desired) => {
      this.#check();
      const what = this.#next('action');
      if (what === 'late' && action.kind === 'create') {
        const given = { kind: action.part, tags: { ...desired.owner }, attributes: action.input };
        rig.clock.setTimer(3_000, () => void rig.cloud.createPart(given));
      }
      this.#strike(what, ['lost-before', 'late', 'die-before']);
      this.#after = what;
    };
    provider.after = () => this.#strike(this.#after, ['lost-after', 'die-after']);
    provider.observing = () => this.#check();
    provider.reading = () => this.#check();
    api.before = () => {
      this.#check();
      const what = this.#next('patch');
      this.#strike(what, ['lost-before', 'late', 'die-before']);
      this.#afterPatch = what;
    };
    api.after = () => this.#strike(this.#afterPatch, ['lost-after', 'die-after']);
    api.onGone = ({ metadata }) => assert.deepEqual(rig.partsOf(metadata?.uid ?? ''), [], 'gone while parts are left');
  }

  #after: Mishap | undefined;
  #afterPatch: Mishap | undefined;

  arm(mishap: Step['mishap']): void {
    this.#mishap = mishap && { ...mishap, left: mishap.nth };
  }

  async restart(): Promise<void> {
    this.#dead = true;
    await this.rig.stop();
    this.#dead = false;
    this.dying = false;
    await this.rig.start();
  }

  #check(): void {
    if (this.#dead || this.dying) throw new Dead('the program is dead');
  }

  #next(on: 'action' | 'patch'): Mishap | undefined {
    if (this.#mishap?.on !== on || --this.#mishap.left > 0) return undefined;
    const { what } = this.#mishap;
    this.#mishap = undefined;
    return what;
  }

  #strike(what: Mishap | undefined, when: readonly Mishap[]): void {
    if (!what || !when.includes(what)) return;
    if (what.startsWith('die')) {
      this.dying = true;
      throw new Dead('the program dies');
    }
    throw new CloudError('unavailable', 'the answer is lost');
  }
}

async function take(world: World, { what, name, waitMs, mishap }: Step, i: number): Promise<void> {
  const { api, clock } = world.rig;
  world.arm(mishap);
  const there = api.get(name);
  const change = (spec: typeof webSpec): void => {
    if (there && !there.metadata?.deletionTimestamp) api.apply(name, spec);
  };
  switch (what) {
    case 'create':
      if (!there) api.apply(name, webSpec);
      else change(webSpec);
      break;
    case 'ports':
      change({ ...webSpec, ports: [{ port: 80 + i, nodePort: 30_000 + i }] });
      break;
    case 'cluster-ip':
      change({ ...webSpec, type: 'ClusterIP' });
      break;
    case 'other-class':
      change({ ...webSpec, loadBalancerClass: 'example.com/other' });
      break;
    case 'delete':
      api.delete(name);
      break;
    case 'node':
      api.nodes.put(nodeOf(`n${i % 4}`));
      break;
    case 'no-node':
      api.nodes.remove(`n${i % 4}`);
      break;
    case 'restart':
      await world.restart();
      break;
    case 'wait':
      break;
  }
  await clock.advance(waitMs);
  if (world.dying) await world.restart();
}

function checkEnd({ api, cloud, partsOf }: Rig): void {
  const wanted = new Set<string>();
  for (const name of NAMES) {
    const service = api.get(name);
    if (!service) continue;
    const { uid = '', deletionTimestamp } = service.metadata ?? {};
    assert.equal(deletionTimestamp, undefined, 'a deleted Service is gone');
    const { type, loadBalancerClass, ports } = service.spec ?? {};
    if (type !== 'LoadBalancer' || loadBalancerClass) continue;
    wanted.add(uid);
    const kinds = partsOf(uid).map(({ kind }) => kind);
    assert.deepEqual(kinds.toSorted(), ['address', 'dns', 'firewall', 'load-balancer'], 'nothing is lost');
    const loadBalancer = partsOf(uid).find(({ kind }) => kind === 'load-balancer')?.attributes;
    assert.equal((loadBalancer?.ports as readonly { port: number }[] | undefined)?.[0]?.port, ports?.[0]?.port);
    const nodes = [...api.nodes.objects.values()].map(({ spec }) => spec?.providerID ?? '').toSorted();
    assert.deepEqual(loadBalancer?.backEnds, nodes, 'the back ends are the nodes');
    assert.equal(service.status?.loadBalancer?.ingress?.[0]?.ip, loadBalancer?.ip);
  }
  const leaked = cloud.parts().filter(({ tags }) => tags.clusterId === CLUSTER && !wanted.has(tags.uid ?? ''));
  assert.deepEqual(leaked, [], 'nothing is leaked');
}

test('whatever happens, no part is leaked or lost, and nothing foreign is touched', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 3, maxLength: 14 }),
      anEnd,
      async (steps, { asking, delayMs, restarts }) => {
        const rig = await createRig();
        ask(rig.provider, asking);
        rig.cloud.configure({ loadBalancerDelayMs: delayMs });
        const world = new World(rig);
        const foreign = [
          rig.cloud.createPart({ kind: 'address', tags: { clusterId: 'another', uid: 'uid-1' }, attributes: {} }),
          rig.cloud.createPart({ kind: 'firewall', tags: { made: 'by hand' }, attributes: {} }),
        ];
        rig.api.nodes.put(nodeOf('n0'));
        await rig.start();
        for (const [i, one] of steps.entries()) await take(world, one, i);
        world.arm(undefined);
        if (restarts || world.dying) await world.restart();
        await rig.clock.advance(1_300_000);
        checkEnd(rig);
        for (const part of foreign)
          assert.deepEqual(
            rig.cloud.parts().find(({ id }) => id === part.id),
            part,
          );
        await rig.stop();
      },
    ),
    { numRuns: Number(process.env['HISTORIES'] ?? 300) },
  );
});

/** For how long lists say that there is nothing: much less than the wait; where the cloud can be asked, whatever they like. */
const SHORT_LIES = [0, 0, 500, 5_000, 60_000] as const;
const LONG_LIES = [...SHORT_LIES, 120_000, 3_600_000] as const;

for (const asking of ['named', 'never'] as const) {
  const [howLong, lies] = asking === 'named' ? ['an hour', LONG_LIES] : ['a minute', SHORT_LIES];
  const lie = fc.record({ step, liesMs: fc.constantFrom<number>(...lies) });
  test(`property: a cloud that shows nothing for up to ${howLong}, at whatever moment, leaks nothing and gets nothing made twice (parts asked about: ${asking})`, async () => {
    let told = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(lie, { minLength: 3, maxLength: 14 }), async (steps) => {
        const rig = await createRig();
        ask(rig.provider, asking);
        const world = new World(rig);
        rig.api.nodes.put(nodeOf('n0'));
        await rig.start();
        for (const [i, { liesMs, step: one }] of steps.entries()) {
          // An answer that is lost, and then lists that lie: nobody could tell that something was made, but by its name.
          const dies = one.mishap?.what.startsWith('die') ?? false;
          await take(world, { ...one, mishap: dies || asking === 'named' ? one.mishap : undefined }, i);
          if (liesMs === 0) continue;
          told += 1;
          rig.cloud.setFaults([{ operation: 'GET /parts', effect: 'empty' }]);
          await rig.clock.advance(liesMs);
          rig.cloud.setFaults([]);
          // The truth is seen before the next lie.
          await rig.clock.advance(31_000);
          if (world.dying) await world.restart();
        }
        world.arm(undefined);
        await world.restart();
        await rig.clock.advance(1_300_000);
        checkEnd(rig);
        await rig.stop();
      }),
      { numRuns: Number(process.env['HISTORIES'] ?? (asking === 'never' ? 100 : 60)) },
    );
    assert.ok(told > 100);
  });
}

for (const asking of ['named', 'by-id', 'never'] as const) {
  const [howLong, lies] = asking === 'never' ? ['a minute', SHORT_LIES] : ['an hour', LONG_LIES];
  /** What a look leaves out, and whether a new process begins with it. */
  const partialLie = fc.record({
    step,
    hidden: fc.subarray(['address', 'dns', 'firewall', 'load-balancer']),
    liesMs: fc.constantFrom<number>(...lies.slice(1)),
    restarts: fc.boolean(),
  });
  test(`property: a cloud that leaves out parts of some kinds for up to ${howLong}, also before a new process, leaks nothing and gets nothing made twice (parts asked about: ${asking})`, async () => {
    let [told, restarts] = [0, 0];
    await fc.assert(
      fc.asyncProperty(fc.array(partialLie, { minLength: 3, maxLength: 14 }), async (steps) => {
        const rig = await createRig();
        ask(rig.provider, asking);
        const world = new World(rig);
        const observe = rig.provider.observe.bind(rig.provider);
        let hidden: readonly string[] = [];
        rig.provider.observe = async (...args) =>
          (await observe(...args)).map((one) =>
            one.kind === 'parts' ? { ...one, parts: one.parts.filter(({ kind }) => !hidden.includes(kind)) } : one,
          );
        rig.api.nodes.put(nodeOf('n0'));
        await rig.start();
        for (const [i, lie] of steps.entries()) {
          const dies = lie.step.mishap?.what.startsWith('die') ?? false;
          // Half made, and never served: a new process makes what it is not shown.
          const served = NAMES.every((name) => {
            const service = rig.api.get(name);
            return !service?.metadata?.finalizers?.length || (service.status?.loadBalancer?.ingress ?? []).length > 0;
          });
          if (lie.liesMs > 0 && lie.hidden.length > 0) told += 1;
          if (lie.liesMs > 0) ({ hidden } = lie);
          if (served && lie.restarts && lie.liesMs > 0) {
            restarts += 1;
            await world.restart();
          }
          await take(world, { ...lie.step, waitMs: Math.min(lie.step.waitMs, 10), mishap: undefined }, i);
          await rig.clock.advance(lie.liesMs);
          hidden = [];
          // The truth is seen before the next lie.
          await rig.clock.advance(31_000);
          world.arm(dies ? lie.step.mishap : undefined);
          await rig.clock.advance(lie.step.waitMs);
          world.arm(undefined);
          if (world.dying) await world.restart();
        }
        await world.restart();
        await rig.clock.advance(1_300_000);
        checkEnd(rig);
        await rig.stop();
      }),
      { numRuns: Number(process.env['HISTORIES'] ?? (asking === 'never' ? 100 : 40)) },
    );
    assert.ok(told > 100 && restarts > 50, `${told} lies, ${restarts} new processes`);
  });
}
