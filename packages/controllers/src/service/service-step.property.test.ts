// Over 400 lines: the properties share the model, and the events that are drawn for it.
/** The step alone, without a runner: whatever happens, in whatever order, no part is lost, made twice or waited for in vain. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  CloudError,
  type BackEnd,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type Owner,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import * as fc from 'fast-check';
import { patchService } from './fake-api.suite.ts';
import { ingressOf } from './load-balancer-service.ts';
import { isRecorded, roleOf } from './role.ts';
import { asRecorded } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { step } from './service-step.ts';
import { readyCondition } from './well-known-names.ts';
import type { Next, Rules, ServiceEvent, Surroundings } from './step-types.ts';

const KEY = 'default/web';
const CLUSTER = 'c';
const KINDS = ['address', 'load-balancer'];
const FEATURES: LoadBalancers['features'] = {
  protocols: ['TCP'],
  mixedProtocols: true,
  ipFamilies: ['IPv4'],
  dualStack: false,
  sessionAffinity: false,
  externalTrafficPolicyLocal: true,
  sourceRanges: true,
  withoutNodePorts: true,
  requestedIP: true,
};

const isOf = (part: LoadBalancerPart, { uid }: Owner): boolean => part.owner?.uid === uid;
const nodesOf = (backEnds: readonly BackEnd[]): string => backEnds.map(({ node }) => node.name).join();

/** One part after the other, as each needs the one before; what is to go, in the other order. */
function plan(
  { backEnds, owner, service, wanted }: Parameters<LoadBalancers['plan']>[0],
  parts: readonly LoadBalancerPart[],
): LoadBalancerPlan {
  const own = parts.filter((part) => isOf(part, owner));
  const act = (kind: LoadBalancerAction['kind'], part: string, id?: string): LoadBalancerPlan => {
    const input = { members: nodesOf(backEnds), port: service.ports[0]?.port };
    return {
      actions: [{ kind, part, ...(id === undefined ? {} : { id }), summary: kind, input }],
      complete: false,
      ingress: [],
    };
  };
  if (!wanted) {
    const last = own.findLast(({ state }) => state !== 'deleting');
    return last ? act('delete', last.kind, last.id) : { actions: [], complete: own.length === 0, ingress: [] };
  }
  const missing = KINDS.find((kind) => !own.some((part) => part.kind === kind));
  if (missing) return act('create', missing);
  const balancer = own.find(({ kind }) => kind === 'load-balancer');
  const { members, port } = balancer?.attributes ?? {};
  if (members !== nodesOf(backEnds) || port !== service.ports[0]?.port)
    return act('update', 'load-balancer', balancer?.id);
  return { actions: [], complete: true, ingress: [{ hostname: 'lb.test' }] };
}

/**
 * What becomes of the next write, read or action: lost on the way, done and the answer lost, or done 3 s
 * after the answer was lost. `raced`: a deletion was on its way, which knows nothing of the finalizer and is told 3 s later.
 */
type Outcome = 'done' | 'pending' | 'lost-before' | 'lost-after' | 'late' | 'conflict' | 'raced';

interface Happening {
  readonly what: 'create' | 'edit' | 'delete' | 'force' | 'cluster-ip' | 'node' | 'config' | 'behind' | 'nothing';
  readonly outcome: Outcome;
  /** Kinds that looks leave out from now on. */
  readonly hidden: readonly string[];
  /** Answers that come before the next thing happens. */
  readonly answers: number;
  /** The cloud answers sooner than the API server. */
  readonly looksFirst: boolean;
  readonly waitMs: number;
}

const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom(
    ...(['create', 'create', 'edit', 'delete', 'force', 'cluster-ip', 'node', 'config', 'behind', 'nothing'] as const),
  ),
  outcome: fc.constantFrom<Outcome>(
    'done',
    'done',
    'done',
    'pending',
    'lost-before',
    'lost-after',
    'late',
    'conflict',
    'raced',
  ),
  hidden: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: fc.subarray(KINDS) }),
  answers: fc.integer({ min: 0, max: 8 }),
  looksFirst: fc.boolean(),
  waitMs: fc.constantFrom(0, 0, 100, 3_000, 6_000, 60_000, 400_000),
});

interface Pass {
  readonly key: string;
  readonly uid: string;
  readonly generation: number;
  readonly next: Next;
  service: Service;
}

/** A queue, an API server and a cloud, as simple as they can be: one pass at a time, and each answer when the test says so. */
class World {
  now: number = 1_000_000;
  outcome: Outcome = 'done';
  hidden: readonly string[] = [];
  looksFirst: boolean = false;
  service: Service | undefined;
  untold: Service | undefined;
  parts: readonly LoadBalancerPart[] = [];
  readonly states: Map<string, ServiceState> = new Map();
  readonly due: Map<string, number> = new Map();
  readonly looking: Map<string, number> = new Map();
  /** `makes`: something, for the Service with this UID. */
  readonly late: { readonly at: number; readonly makes: string | undefined; readonly run: () => void }[] = [];
  pass: Pass | undefined;
  backEnds: readonly BackEnd[] = [];
  generation: number = 0;
  appliedAt: number = -Infinity;
  count: number = 0;
  readonly rules: Rules = {
    options: { providerName: 'fake', clusterId: CLUSTER, classes: [], isDefault: true, providers: ['fake'] },
    planner: { annotations: [], features: FEATURES, plan },
    cloud: { read: () => Promise.resolve([]), namedByOwner: KINDS },
    serviceOf: () => undefined,
    startedAt: this.now,
    dryRun: false,
    redact: (text) => text,
  };

  partsOf(uid: string): readonly LoadBalancerPart[] {
    return this.parts.filter((part) => part.owner?.uid === uid);
  }

  at(service: Service, generation: number = this.generation): Surroundings {
    const { appliedAt, backEnds, now, rules } = this;
    const moment = { now, wallNow: now, random: 0, backEnds, generation, newestGeneration: this.generation, appliedAt };
    return { rules, service, before: [], ...moment };
  }

  subject(key: string): Service | undefined {
    return this.states.get(key)?.leftover ?? (key === KEY ? (this.untold ?? this.service) : undefined);
  }

  /** Takes a step, twice: the same comes of the same, and nothing is changed by it. */
  take(home: string, event: ServiceEvent, at: Surroundings): Next {
    const before = this.states.get(home);
    const known = before?.knowledge.parts.words.join();
    const taken = step(before, event, at);
    assert.equal(JSON.stringify(step(before, event, at)), JSON.stringify(taken), 'the same of the same');
    assert.equal(before?.knowledge.parts.words.join(), known, 'what is known is not changed in place');
    if (taken.state) this.states.set(home, taken.state);
    else this.states.delete(home);
    for (const effect of taken.effects) {
      if (effect.kind === 'ask') this.ask(home);
      if (effect.kind !== 'leave-over') continue;
      this.states.set(`uid:${effect.state.uid}`, effect.state);
      this.due.set(`uid:${effect.state.uid}`, this.now);
    }
    const isLost = before && !taken.state && !this.states.has(`uid:${before.uid}`) && before.uid !== '';
    if (isLost) assert.deepEqual(this.partsOf(before.uid), [], 'a Service is forgotten, and a part of it is left');
    return taken.next;
  }

  hear(key: string, event: ServiceEvent, service: Service): void {
    const next = this.take(key, event, this.at(service));
    assert.ok(next.kind === 'wake' || next.kind === 'rest', `what is only heard of can not ${next.kind}`);
    if (next.kind === 'wake') this.wake(key, next.afterMs);
  }

  wake(key: string, afterMs: number): void {
    this.due.set(key, Math.min(this.due.get(key) ?? Infinity, this.now + afterMs));
  }

  /** The API server has it so; the watch says it at once. */
  store(service: Service | undefined): void {
    this.tellVanished();
    const before = this.service;
    const version = String(++this.count);
    this.service = service && { ...service, metadata: { ...service.metadata, resourceVersion: version } };
    if (this.service) this.hear(KEY, { kind: 'changed' }, this.service);
    else if (before) this.hear(KEY, { kind: 'vanished', successor: undefined, isSeen: false }, before);
  }

  /** In a pass: an event, and what comes of it. */
  go(pass: Omit<Pass, 'next'>, event: ServiceEvent): void {
    const home = [pass.key, `uid:${pass.uid}`].find((key) => this.states.get(key)?.uid === pass.uid) ?? pass.key;
    const next = this.take(home, event, this.at(pass.service, pass.generation));
    this.pass = undefined;
    if (next.kind === 'wake') this.wake(pass.key, next.afterMs);
    else if (next.kind === 'look') this.ask(pass.key);
    else if (next.kind !== 'rest') this.pass = { ...pass, next };
  }

  /** Unless the answer is on its way. */
  ask(key: string): void {
    if (!this.looking.has(key)) this.looking.set(key, this.now);
  }

  /** The next thing that is under way comes to its end. Returns whether anything was. */
  answer(): boolean {
    if (this.pass && !(this.looksFirst && this.looking.size > 0)) {
      this.perform(this.pass);
      return true;
    }
    for (const [key, startedAt] of this.looking) {
      this.looking.delete(key);
      const service = this.subject(key);
      if (!service) continue;
      const { uid = '' } = service.metadata ?? {};
      const parts = this.partsOf(uid).filter(({ kind }) => !this.hidden.includes(kind));
      const observation = { kind: 'parts', asOf: startedAt, parts } as const;
      this.hear(key, { kind: 'looked', look: { uid, startedAt, observation } }, service);
      return true;
    }
    for (const [key, at] of this.due) {
      if (at > this.now) continue;
      this.due.delete(key);
      const service = this.subject(key);
      if (!service) continue;
      const { uid = '' } = service.metadata ?? {};
      this.go({ key, uid, generation: this.generation, service }, { kind: 'due' });
      return true;
    }
    return false;
  }

  perform(pass: Pass): void {
    const { next } = pass;
    const { outcome } = this;
    this.outcome = 'done';
    const lost = new CloudError('unavailable', 'the answer is lost');
    if (next.kind === 'write') return this.write(pass, outcome, lost);
    if (next.kind === 'read') {
      const answers = next.read.questions.map(({ id, kind, owner }) => {
        if (outcome === 'lost-before') return { kind: 'failed', error: lost } as const;
        const isThere = this.partsOf(owner.uid).some(
          (part) => part.kind === kind && (id === undefined || id === part.id),
        );
        return isThere ? ({ kind: 'there' } as const) : ({ kind: 'absent', proof: 'a 404' } as const);
      });
      return this.go(pass, { kind: 'read', read: next.read, answers });
    }
    if (next.kind === 'confirm') {
      if (outcome === 'lost-before') return this.go(pass, { kind: 'failed', error: lost });
      return this.go(pass, { kind: 'confirmed', bring: next.bring, found: this.service });
    }
    assert.ok(next.kind === 'apply');
    const { bring } = next;
    let error: Error | undefined;
    for (const action of bring.plan.actions) {
      const result = this.act(action, bring.desired.owner, outcome, lost);
      this.now += 10;
      const home = [pass.key, `uid:${pass.uid}`].find((key) => this.states.get(key)?.uid === pass.uid);
      if (home) this.take(home, { kind: 'applied', action, result }, this.at(pass.service, pass.generation));
      if (result.kind === 'failed') ({ error } = result);
      if (error) break;
    }
    this.appliedAt = this.now;
    const pending = outcome === 'pending' ? { pollAfterMs: 2_000, dueAt: this.now + 1_990 } : undefined;
    this.go(pass, { kind: 'ended', bring, applied: { isBegun: true, error, pending } });
  }

  act(
    { id, input, kind, part }: LoadBalancerAction,
    owner: Owner,
    outcome: Outcome,
    lost: Error,
  ): LoadBalancerActionResult {
    const run = (): void => {
      if (kind === 'delete') this.parts = this.parts.filter((one) => one.id !== id);
      else if (kind === 'update')
        this.parts = this.parts.map((one) => (one.id === id ? { ...one, attributes: input } : one));
      else {
        assert.notEqual(this.untold?.metadata?.uid, owner.uid, `a ${part} is made for a Service that was deleted`);
        assert.ok(!this.partsOf(owner.uid).some((one) => one.kind === part), `a ${part} is made twice`);
        const made = { kind: part, id: `${part}-${++this.count}`, owner, state: 'ready', attributes: input } as const;
        this.parts = [...this.parts, made];
      }
    };
    if (outcome === 'late')
      this.late.push({ at: this.now + 3_000, makes: kind === 'create' ? owner.uid : undefined, run });
    else if (outcome !== 'lost-before') run();
    if (outcome === 'lost-before' || outcome === 'lost-after' || outcome === 'late')
      return { kind: 'failed', error: lost };
    return outcome === 'pending' ? { kind: 'pending', handle: 'task', pollAfterMs: 2_000 } : { kind: 'done' };
  }

  write(pass: Pass, outcome: Outcome, lost: Error): void {
    assert.ok(pass.next.kind === 'write');
    const { write } = pass.next;
    const { uid } = pass;
    if (write.purpose === 'let-go') {
      assert.deepEqual(this.partsOf(uid), [], 'the finalizer goes, and a part is there');
      assert.ok(!this.late.some(({ makes }) => makes === uid), 'the finalizer goes, and a part may still be made');
    }
    if (outcome === 'lost-before' || outcome === 'late') return this.go(pass, { kind: 'failed', error: lost });
    const isIts = this.service?.metadata?.uid === uid;
    if (!this.service || !isIts || outcome === 'conflict') {
      this.go(pass, { kind: 'written', write, metadata: undefined });
      // Another has written it, of which the watch tells.
      if (this.service && isIts)
        this.store({ ...this.service, metadata: { ...this.service.metadata, labels: { a: `${this.count}` } } });
      return;
    }
    let written: Service;
    try {
      written = patchService(this.service, write.patch);
    } catch {
      return this.go(pass, { kind: 'written', write, metadata: undefined });
    }
    const { deletionTimestamp, finalizers = [] } = written.metadata ?? {};
    this.store(deletionTimestamp !== undefined && finalizers.length === 0 ? undefined : written);
    const { metadata = {} } = this.service ?? written;
    if (outcome === 'raced' && write.purpose === 'record') this.vanish();
    const goesOn = write.purpose === 'record' || write.purpose === 'open';
    const next = goesOn ? { ...pass, service: { ...pass.service, metadata } } : pass;
    if (outcome === 'lost-after') return this.go(pass, { kind: 'failed', error: lost });
    this.go(next, { kind: 'written', write, metadata });
  }

  /** The watch tells it later, and before anything else. */
  vanish(): void {
    this.untold = this.service;
    this.service = undefined;
    this.late.push({ at: this.now + 3_000, makes: undefined, run: () => this.tellVanished() });
  }

  tellVanished(): void {
    const { untold } = this;
    this.untold = undefined;
    if (untold) this.hear(KEY, { kind: 'vanished', successor: undefined, isSeen: true }, untold);
  }

  /** Time passes; whatever is due in it comes to its end. */
  wait(ms: number): void {
    const until = this.now + ms;
    for (let i = 0; this.answer() || this.turnTo(until); i++) assert.ok(i < 5_000, 'it never comes to rest');
    this.now = Math.max(this.now, until);
  }

  /** The clock goes on to the next thing that is due. Returns whether there is one until then. */
  turnTo(until: number): boolean {
    const next = Math.min(...this.due.values(), ...this.late.map(({ at }) => at));
    if (next > until || next === Infinity) return false;
    this.now = Math.max(this.now, next);
    for (const one of this.late.splice(0)) {
      if (one.at <= this.now) one.run();
      else this.late.push(one);
    }
    return true;
  }

  happens({ what }: Happening): void {
    const { metadata, ...service } = this.service ?? {};
    const isThere = this.service !== undefined && metadata?.deletionTimestamp === undefined;
    const port = 80 + (this.count % 2);
    const spec: NonNullable<Service['spec']> = { type: 'LoadBalancer', ports: [{ port, nodePort: 30_000 }] };
    switch (what) {
      case 'create':
        if (!this.service)
          this.store({ metadata: { name: 'web', namespace: 'default', uid: `u${++this.count}` }, spec });
        return;
      case 'edit':
      case 'cluster-ip':
        if (isThere)
          this.store({
            ...service,
            metadata: { ...metadata },
            spec: what === 'edit' ? spec : { ...spec, type: 'ClusterIP' },
          });
        return;
      case 'delete':
      case 'force': {
        if (!this.service) return;
        const going = { ...service, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
        if (isThere) this.store(going);
        if (what === 'force' || (metadata?.finalizers ?? []).length === 0) this.store(undefined);
        return;
      }
      case 'node': {
        const name = `n${(this.count += 1)}`;
        const node = { name, uid: name, providerID: `fake://${name}`, labels: {}, annotations: {} };
        const others = this.backEnds.length > 2 ? this.backEnds.slice(1) : this.backEnds;
        this.backEnds = [...others, { node, addresses: [] }];
        this.generation += 1;
        for (const key of this.states.keys()) {
          if (key === KEY && this.service) this.hear(key, { kind: 'nodes-changed', at: this.now }, this.service);
        }
        return;
      }
      case 'config':
        for (const key of this.states.keys()) this.hear(key, { kind: 'reconfigured' }, this.subject(key) ?? {});
        return;
      case 'behind':
        // The watch brings the newer one in the end.
        if (this.service) {
          this.hear(KEY, { kind: 'behind' }, this.service);
          this.hear(KEY, { kind: 'changed' }, this.service);
        }
        return;
      case 'nothing':
    }
  }

  /** All is as it should be, or nothing would ever make it so. */
  checkEnd(): void {
    const { service } = this;
    const { uid = '', deletionTimestamp } = service?.metadata ?? {};
    assert.equal(deletionTimestamp, undefined, 'a deleted Service sleeps, and nothing wakes it');
    const isServed = service !== undefined && roleOf(service, this.rules.options) === 'serve';
    assert.deepEqual(
      this.parts.map(({ kind, owner }) => `${kind} of ${owner?.uid}`).toSorted((a, b) => (a < b ? -1 : 1)),
      isServed ? KINDS.map((kind) => `${kind} of ${uid}`) : [],
      'the parts are those of the Service, and nothing is left',
    );
    const { reason, status } = service?.status?.conditions?.find(({ type }) => type === readyCondition) ?? {};
    assert.equal(`${status} ${reason}`, isServed ? 'True Ready' : 'undefined undefined', 'it says whether it is ready');
    if (!isServed) return assert.ok(!service || !isRecorded(service, 'fake'), 'it is let go');
    const { members, port } = this.parts.find(({ kind }) => kind === 'load-balancer')?.attributes ?? {};
    assert.deepEqual([members, port], [nodesOf(this.backEnds), service.spec?.ports?.[0]?.port]);
    assert.deepEqual(ingressOf(service), [{ hostname: 'lb.test' }]);
    assert.equal(this.states.get(KEY)?.settled?.upTo, this.generation);
  }
}

const at0 = { outcome: 'done', hidden: [], looksFirst: false, answers: 0, waitMs: 0 } as const;
/** The first try has no answer, a node joins, the next try settles, and only then the first takes effect. */
const lateAfterSettled: Happening[] = [
  { ...at0, what: 'create' },
  { ...at0, what: 'edit' },
  { ...at0, what: 'edit', outcome: 'late' },
  { ...at0, what: 'create' },
  { ...at0, what: 'node' },
];

test('property: no finalizer goes while a part may remain, nothing is begun twice, forgotten with work left, or asleep for good', () => {
  let [served, lied] = [0, 0];
  fc.assert(
    fc.property(fc.array(happening, { minLength: 3, maxLength: 20 }), (happenings) => {
      const world = new World();
      world.happens({ ...(happenings[0] as Happening), what: 'node' });
      for (const one of happenings) {
        world.outcome = one.outcome;
        world.hidden = one.hidden;
        world.looksFirst = one.looksFirst;
        world.happens(one);
        for (let i = 0; i < one.answers; i++) world.answer();
        world.wait(one.waitMs);
        if (one.hidden.length > 0) lied += 1;
      }
      Object.assign(world, { outcome: 'done', hidden: [] });
      world.wait(3_600_000);
      world.checkEnd();
      if (world.parts.length > 0) served += 1;
    }),
    { numRuns: Number(process.env['HISTORIES'] ?? 1_000), examples: [[lateAfterSettled]] },
  );
  assert.ok(served > 100 && lied > 500, `${served} end served, ${lied} lies`);
});

test('whenever a node joins while the first load balancer is made, and whichever answer is lost or late meanwhile, it becomes a back end', () => {
  const outcomes: readonly Outcome[] = ['done', 'pending', 'lost-before', 'lost-after', 'late', 'conflict'];
  /** Of what happens until it is served, by far; two outcomes that are not `done` need more. */
  const STEPS = 30;
  let amid = 0;
  for (const outcome of outcomes) {
    for (let joins = 0; joins < STEPS; joins++) {
      for (let goesWrong = 0; goesWrong < STEPS; goesWrong++) {
        const world = new World();
        world.happens({ ...at0, what: 'node' });
        world.happens({ ...at0, what: 'create' });
        for (let i = 0; i < STEPS; i++) {
          if (i === goesWrong) world.outcome = outcome;
          if (i === joins) {
            const { settled, work } = world.states.get(KEY) ?? {};
            if (work && !settled) amid += 1;
            world.happens({ ...at0, what: 'node' });
          }
          if (!world.answer()) world.turnTo(Infinity);
        }
        world.wait(3_600_000);
        world.checkEnd();
      }
    }
  }
  assert.ok(amid > 1_000, `${amid} while it is made`);
});

const web: Service = {
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { type: 'LoadBalancer', ports: [{ port: 80, nodePort: 30_000 }] },
};

test('a first step that fails is told and tried again, although nothing is known of the Service yet', () => {
  const { effects, next, state } = step(undefined, { kind: 'failed', error: new Error('boom') }, new World().at(web));
  assert.deepEqual([next, state?.failures], [{ kind: 'wake', afterMs: 5_000 }, 1]);
  assert.ok(effects.some(({ kind }) => kind === 'log'));
});

test('a record that another writer kept from being opened is tried again by itself', () => {
  const world = new World();
  const { state } = step(undefined, { kind: 'due' }, world.at(web));
  const write = { purpose: 'open', action: { kind: '', summary: '' }, patch: { type: 'strategic', body: {} } } as const;
  const { next } = step(state, { kind: 'written', write, metadata: undefined }, world.at(web));
  assert.equal(next.kind, 'wake');
});

test('what a Service has failed for before does not delay the clean-up after it, nor is it waited for as one that follows nodes', () => {
  const { state } = step(undefined, { kind: 'due' }, new World().at(web));
  assert.ok(state);
  const recorded = { ...web, metadata: { ...web.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  const at = new World().at(asRecorded(recorded, 'fake'));
  const tired: ServiceState = { ...state, failures: 10, nodes: { changedAt: 0, isDue: true } };
  const { effects } = step(tired, { kind: 'vanished', successor: undefined, isSeen: false }, at);
  const left = effects.find((effect) => effect.kind === 'leave-over')?.state;
  assert.deepEqual([left?.uid, left?.failures, left?.nodes], ['u1', 0, undefined]);
});

test('a Service that the API server says to have deleted leaves its parts to be cleaned up, also without a timestamp; one that a list lacks does not', () => {
  const { state } = step(undefined, { kind: 'due' }, new World().at(web));
  const at = new World().at(asRecorded(web, 'fake'));
  const leaves = (isSeen: boolean): boolean =>
    step(state, { kind: 'vanished', successor: undefined, isSeen }, at).effects.some(
      ({ kind }) => kind === 'leave-over',
    );
  assert.deepEqual([leaves(true), leaves(false)], [true, false]);
});
