/** Safety and liveness: no history deletes a live node; and when all faults are over, every node whose machine is gone goes, however many. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InstanceResult, NodeRef } from '@outrigger/cloud-provider';
import { StatusError } from '@outrigger/kube';
import * as fc from 'fast-check';
import { refOfNode } from '../node-ref.ts';
import type { NodeLifecycleControllerOptions } from './lifecycle-dependencies.ts';
import { failure, isShutdownTainted, LifecycleRig, nodeOf } from './lifecycle-rig.suite.ts';
import { readinessOf } from './readiness.ts';

const GRACE_MS = 30_000;
const NAMES = ['n0', 'n1', 'n2'] as const;
type Name = (typeof NAMES)[number];
type ListMode = 'truth' | 'empty' | 'stale' | 'fail';
type ReadMode = 'truth' | 'throttled' | 'fail' | 'hang';
type ApiMode = 'ok' | 'fail' | 'conflict' | 'lost';

type Step =
  | { readonly kind: 'vanish' | 'stop' | 'start' | 'ready' | 'not-ready' | 'heartbeat' | 'replace' | 'lie'; name: Name }
  | { readonly kind: 'list'; readonly mode: ListMode }
  | { readonly kind: 'read'; readonly mode: ReadMode }
  | { readonly kind: 'api'; readonly mode: ApiMode }
  | { readonly kind: 'watch'; readonly held: boolean }
  | { readonly kind: 'advance'; readonly ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        'vanish',
        'stop',
        'start',
        'ready',
        'not-ready',
        'not-ready',
        'heartbeat',
        'replace',
        'lie',
      ),
      name: fc.constantFrom(...NAMES),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('list'),
      mode: fc.constantFrom<ListMode>('truth', 'empty', 'empty', 'stale', 'fail'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('read'),
      mode: fc.constantFrom<ReadMode>('truth', 'throttled', 'fail', 'hang'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('api'),
      mode: fc.constantFrom<ApiMode>('ok', 'fail', 'conflict', 'lost'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('watch'), held: fc.boolean() }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('advance'),
      ms: fc.constantFrom(10, 1_000, 5_000, 29_000, 31_000, 65_000),
    }),
  },
);

/** What is true, beside what the controller is told. */
class World {
  readonly rig = new LifecycleRig();
  readonly #dead = new Set<string>();
  readonly #notReadySince = new Map<string, number>();
  /** Machines that a read has denied, and for which nothing has spoken since. */
  readonly #denied = new Set<string>();
  /** Machines that the list does not have, and that the next read denies. */
  readonly #lies = new Set<string>();
  #hanging: (() => void)[] = [];
  #list: ListMode = 'empty';
  #read: ReadMode = 'truth';
  #api: ApiMode = 'ok';
  #made = 0;

  constructor() {
    const { rig } = this;
    rig.cloud.listLie = (node, truth) => this.#listed(node, truth);
    rig.cloud.readLie = (node, truth) => this.#readAnswer(node, truth);
    rig.onDeleted = (node) => {
      const { name = '', uid = '' } = node.metadata ?? {};
      assert.ok(this.#dead.has(uid), `the live node ${name} was deleted`);
      assert.ok(!readinessOf(node).ready, `the Ready node ${name} was deleted`);
      const since = this.#notReadySince.get(name) ?? Infinity;
      assert.ok(rig.clock.monotonic() - since >= GRACE_MS, `node ${name} was deleted within the grace period`);
    };
    rig.beforeDelete = (name) => {
      if (this.#api === 'fail') throw new StatusError('DELETE', 500, { reason: 'InternalError', code: 500 });
      if (this.#api === 'conflict') rig.api.put({ ...rig.api.nodes.get(name) });
      if (this.#api === 'lost') throw new Error('the connection is gone');
    };
    rig.api.before = () => {
      if (this.#api === 'fail') throw new StatusError('any', 503, { reason: 'ServiceUnavailable', code: 503 });
    };
    rig.cloud.place = 'the cluster';
  }

  /** With whatever options. */
  async start(options: Partial<NodeLifecycleControllerOptions>): Promise<void> {
    await this.rig.start(options);
    for (const name of NAMES) this.#join(name);
    await this.rig.settle();
  }

  async do(action: Step): Promise<void> {
    const { rig } = this;
    switch (action.kind) {
      case 'advance':
        await rig.advance(action.ms);
        return;
      case 'list':
        this.#list = action.mode;
        return;
      case 'read':
        this.#read = action.mode;
        this.#release();
        return;
      case 'api':
        this.#api = action.mode;
        return;
      case 'watch':
        rig.api.holdWatch = action.held;
        rig.api.publish();
        return;
      default:
        this.#happen(action.kind, action.name);
    }
  }

  /** All faults are over, for so long. */
  async recover(ms: number): Promise<void> {
    this.#lies.clear();
    for (const action of [
      { kind: 'list', mode: 'truth' },
      { kind: 'read', mode: 'truth' },
      { kind: 'api', mode: 'ok' },
      { kind: 'watch', held: false },
    ] as const) {
      await this.do(action);
    }
    for (let left = ms; left > 0; left -= 300_000) await this.do({ kind: 'advance', ms: Math.min(left, 300_000) });
  }

  /** What should be so in the end. */
  checkEnd(): void {
    for (const node of this.rig.api.nodes.values()) {
      const { name = '', uid = '' } = node.metadata ?? {};
      const { ready } = readinessOf(node);
      assert.ok(ready || !this.#dead.has(uid), `node ${name} is still there`);
      const state = this.rig.cloud.machines.get(node.spec?.providerID ?? '');
      if (ready) assert.ok(!isShutdownTainted(node), `the Ready node ${name} has the taint`);
      else if (state === 'shutdown') assert.ok(isShutdownTainted(node), `node ${name} has no taint`);
    }
  }

  #join(name: Name): void {
    const uid = `${name}-${this.#made++}`;
    const providerID = `fake://${uid}`;
    this.rig.cloud.machines.set(providerID, 'running');
    this.#notReadySince.delete(name);
    this.rig.api.put(nodeOf(name, { uid, providerID, zone: name < 'n2' ? 'a' : 'b' }));
    // What the node controller was told when it was initialised.
    const node = this.rig.api.nodes.get(name);
    if (node) this.rig.cloud.tellFound(refOfNode(node));
  }

  #happen(kind: Exclude<Step['kind'], 'advance' | 'list' | 'read' | 'api' | 'watch'>, name: Name): void {
    const { rig } = this;
    const node = rig.api.nodes.get(name);
    const uid = node?.metadata?.uid ?? '';
    const providerID = node?.spec?.providerID ?? '';
    const runs = rig.cloud.machines.get(providerID) === 'running';
    if (kind === 'replace') {
      rig.cloud.machines.delete(providerID);
      if (node) rig.api.remove(name);
      this.#join(name);
      return;
    }
    if (!node || this.#dead.has(uid)) return;
    if (kind === 'vanish') {
      this.#dead.add(uid);
      rig.cloud.machines.delete(providerID);
      this.#notReady(name, 'Unknown');
    } else if (kind === 'stop') {
      rig.cloud.machines.set(providerID, 'shutdown');
      this.#notReady(name, 'Unknown');
    } else if (kind === 'start') {
      rig.cloud.machines.set(providerID, 'running');
    } else if (kind === 'not-ready') {
      this.#notReady(name, 'False');
    } else if (kind === 'lie') {
      if (!this.#denied.has(uid)) this.#lies.add(uid);
      this.#notReady(name, 'False');
    } else if (kind === 'ready' && runs) {
      this.#denied.delete(uid);
      this.#notReadySince.delete(name);
      rig.ready(name, 'True');
    } else if (kind === 'heartbeat' && runs) {
      this.#denied.delete(uid);
      rig.ready(name, readinessOf(node).ready ? 'True' : 'False', { heartbeat: true });
    }
  }

  #notReady(name: Name, status: 'False' | 'Unknown'): void {
    if (!this.#notReadySince.has(name)) this.#notReadySince.set(name, this.rig.clock.monotonic());
    this.rig.ready(name, status);
  }

  #listed({ name, uid, providerID = `fake://${name}` }: NodeRef, truth: InstanceResult): InstanceResult {
    if (this.#list === 'fail') return failure('unavailable');
    if (this.#list === 'empty' || this.#lies.has(uid)) return { kind: 'missing' };
    const stale: InstanceResult = { kind: 'found', instance: { providerID, state: 'running' } };
    const answer = this.#list === 'stale' ? stale : truth;
    if (answer.kind === 'found') this.#denied.delete(uid);
    return answer;
  }

  /** A machine is denied falsely again and again, but never twice with nothing in between that speaks for it. */
  #readAnswer({ uid }: NodeRef, truth: InstanceResult): InstanceResult | Promise<InstanceResult> {
    if (this.#read === 'throttled') return failure('throttled');
    if (this.#read === 'fail') return failure('unavailable');
    const lies = this.#lies.delete(uid);
    if (lies) this.#denied.add(uid);
    const answer: InstanceResult = lies ? { kind: 'absent', proof: 'a lie' } : truth;
    if (this.#read === 'hang') return new Promise((resolve) => void this.#hanging.push(() => resolve(answer)));
    if (answer.kind === 'found') this.#denied.delete(uid);
    return answer;
  }

  #release(): void {
    for (const answer of this.#hanging) answer();
    this.#hanging = [];
  }
}

/** Rejects when a live node is deleted on the way, or one that is gone is there at the end. */
async function live(
  steps: readonly Step[],
  options: Partial<NodeLifecycleControllerOptions>,
  recoveryMs: number,
): Promise<void> {
  const world = new World();
  await using rig = world.rig;
  let failed: unknown;
  const { onDeleted } = rig;
  rig.onDeleted = (node) => {
    try {
      onDeleted(node);
    } catch (error) {
      failed = error;
    }
  };
  await world.start(options);
  for (const action of steps) await world.do(action);
  await world.recover(recoveryMs);
  if (failed !== undefined) throw failed as Error;
  world.checkEnd();
}

const history = fc.array(step, { minLength: 5, maxLength: 40 });

test('no history deletes a live node, and in the end each that is gone is deleted', async () => {
  await fc.assert(
    fc.asyncProperty(history, (steps) => live(steps, { deletionMaxFraction: 1 }, 900_000)),
    { numRuns: 2_000 },
  );
});

test('with two of three gone, or all of them, what is proved goes in the end too, and no live node ever', async () => {
  await fc.assert(
    fc.asyncProperty(history, (steps) => live(steps, {}, 3_600_000)),
    { numRuns: 300 },
  );
});
