/** Brings load balancers to what they should be by the provider under judgement, as the service controller does: look, plan, apply, look again. */
import { strict as assert } from 'node:assert';
import { randomUUID } from 'node:crypto';
import {
  effectOf,
  isCloudError,
  sameOwner,
  type BackEnd,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerIngress,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancers,
  type LoadBalancerService,
  type PartAnswer,
  type PartName,
  type PartQuestion,
} from '@outrigger/cloud-provider';
import { bringTo, checkPlan, type SeenParts } from '@outrigger/controllers';
import { hasItsMembers } from '@outrigger/cloud-runtime';
import type { ProviderRig } from './provider-rig.ts';

const OBSERVE_MS = 30_000;
const LIST_MS = 120_000;
/** As the host: a look that began so long after a request without an answer shows what came of it, where looks are strong. */
const STRONG_MS = 5_000;
/** And where nobody can be asked. */
const WAIT_MS = 95_000;
const ROUNDS = 200;
/** So often an action may fail with what passes by itself, in a row. */
const FAILURES_IN_A_ROW = 6;
/** Failures of a cloud that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['retry-after', 'conflict', 'unavailable', 'timeout', 'throttled']);

export interface Brought {
  readonly ingress: readonly LoadBalancerIngress[];
  /** Its own parts. */
  readonly parts: readonly LoadBalancerPart[];
  readonly actions: readonly LoadBalancerAction[];
}

export interface BringOptions {
  /** Hears of each plan, and of the parts that it rests on. */
  readonly onPlan?: (plan: LoadBalancerPlan, parts: readonly LoadBalancerPart[]) => void;
  /** Hears of each action when it has ended, with what it was planned from. */
  readonly onAction?: (
    action: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    parts: readonly LoadBalancerPart[],
  ) => Promise<void>;
}

/** The host's judgement of a plan. */
type Planned =
  | {
      readonly kind: 'plan';
      readonly desired: DesiredLoadBalancer;
      readonly plan: LoadBalancerPlan;
      readonly complete: boolean;
    }
  | { readonly kind: 'refused'; readonly error: Error };

/** The process has died, or was told to stop: nothing more is tried. */
class Stopped extends Error {}

export class LoadBalancerUser {
  readonly rig: ProviderRig;
  /** As last asked for, by the UIDs of their Services. */
  readonly #made = new Map<string, DesiredLoadBalancer>();

  constructor(rig: ProviderRig) {
    this.rig = rig;
  }

  get balancers(): LoadBalancers {
    return this.rig.use('loadBalancers');
  }

  /** A Service with one port that asks for nothing beyond what every load balancer has. */
  service(name: string, more: Partial<LoadBalancerService> = {}): LoadBalancerService {
    const { classes, features } = this.balancers;
    const [protocol = 'TCP'] = features.protocols;
    const [family = 'IPv4'] = features.ipFamilies;
    return {
      uid: randomUUID(),
      namespace: 'conformance',
      name: `${name}-${randomUUID().slice(0, 8)}`,
      labels: {},
      annotations: {},
      ports: [{ name: 'one', port: 80, protocol, nodePort: 30_080 }],
      ipFamilies: [family],
      ipFamilyPolicy: 'SingleStack',
      externalTrafficPolicy: 'Cluster',
      sourceRanges: [],
      ...(classes[0] !== undefined && { loadBalancerClass: classes[0] }),
      ingress: [],
      ...more,
    };
  }

  desired(service: LoadBalancerService, backEnds: readonly BackEnd[]): DesiredLoadBalancer {
    const owner = { clusterId: this.rig.clusterId, uid: service.uid };
    return { service, wanted: true, owner, backEnds: this.selected(service, backEnds) };
  }

  selected(service: LoadBalancerService, backEnds: readonly BackEnd[]): readonly BackEnd[] {
    // As the host has them.
    const sorted = backEnds.toSorted((a, b) => (a.node.name < b.node.name ? -1 : 1));
    return this.balancers.selectBackEnds?.(service, sorted) ?? sorted;
  }

  async look(service: LoadBalancerService): Promise<SeenParts> {
    const [seen] = await this.observe([service]);
    if (seen?.kind === 'failed') throw seen.error;
    assert.ok(seen, 'observe answers for each Service');
    return seen;
  }

  observe(services: readonly LoadBalancerService[]): ReturnType<LoadBalancers['observe']> {
    const { balancers, rig } = this;
    return rig.inBatches(balancers, services, (batch) =>
      rig.call('observe', (call) => balancers.observe(batch, call), { timeoutMs: OBSERVE_MS }),
    );
  }

  listOwned(): ReturnType<LoadBalancers['listOwned']> {
    return this.rig.call('listOwned', (call) => this.balancers.listOwned(call), { timeoutMs: LIST_MS });
  }

  async ask(...parts: readonly PartQuestion[]): Promise<readonly PartAnswer[]> {
    const { balancers } = this;
    const answers = await this.rig.call('read', async (call) => balancers.read?.(parts, call), {
      timeoutMs: OBSERVE_MS,
    });
    assert.equal(answers?.length, parts.length, 'read answers for each part');
    return answers ?? [];
  }

  /** Of the Service's own, as a look shows them. */
  async own({ owner, service }: DesiredLoadBalancer): Promise<readonly LoadBalancerPart[]> {
    return (await this.look(service)).parts.filter((part) => sameOwner(part.owner, owner));
  }

  /** What the host makes of the provider's plan. Throws for one that it would refuse. */
  plan(desired: DesiredLoadBalancer, seen: SeenParts): Planned {
    const made = bringTo({ provider: this.balancers }, desired, seen);
    switch (made.kind) {
      case 'bring':
        return { kind: 'plan', desired: made.desired, plan: made.plan, complete: made.complete };
      case 'refuse':
        return { kind: 'refused', error: made.error };
      case 'failed':
        throw made.error;
      default:
        throw new Error(`the host does nothing with this plan: ${made.kind}`);
    }
  }

  apply(
    action: LoadBalancerAction,
    desired: DesiredLoadBalancer,
    options: { readonly signal?: AbortSignal; readonly timeoutMs?: number } = {},
  ): Promise<LoadBalancerActionResult> {
    const work = this.rig.call('apply', (call) => this.balancers.apply(action, desired, call), {
      ...options,
      writes: true,
    });
    return work.catch((error: unknown) => {
      if (!(error instanceof Error)) throw error;
      return { kind: 'failed', error };
    });
  }

  /** Until all is as it should be. Rejects where it is refused, fails for good, or does not come to an end. */
  async bring(desired: DesiredLoadBalancer, options: BringOptions = {}): Promise<Brought> {
    this.#remember(desired);
    const pass = new Pass(this, desired, options);
    return pass.run();
  }

  /** What a Service that is deleted leads to. */
  async remove({ owner, service }: DesiredLoadBalancer): Promise<Brought> {
    return this.bring({ service, owner, wanted: false, backEnds: [] });
  }

  /** The members alone, as last accepted for the rest. */
  async bringMembers(desired: DesiredLoadBalancer): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      const { parts } = await this.look(desired.service);
      const plan = this.balancers.planMembers?.(desired, parts, true);
      assert.ok(plan, 'planMembers is there');
      const other = plan.actions.find(({ kind }) => kind !== 'update');
      assert.equal(
        other,
        undefined,
        `the provider planned to ${other?.kind} ${other?.part} where only members may change`,
      );
      checkPlan(plan, desired, parts);
      if (hasItsMembers(plan, desired, parts)) return;
      for (const action of plan.actions) {
        const result = await this.apply(action, desired);
        if (result.kind === 'failed') throw result.error;
        if (result.kind === 'pending') await this.rig.wait(result.pollAfterMs);
      }
      await this.rig.wait(1_000);
    }
    throw new Error('the members do not come to an end');
  }

  /** Applies the first plans until the process dies, or all is done. */
  async bringUntilCrash(desired: DesiredLoadBalancer): Promise<'died' | 'done'> {
    this.#remember(desired);
    try {
      await new Pass(this, desired, { stopsAtFailure: true }).run();
      return 'done';
    } catch (error) {
      if (error instanceof Stopped) return 'died';
      throw error;
    }
  }

  /**
   * Waits until what may have been done shows, as the host does before it goes on. `kind`: of the part that may have been made; without
   * it, of any.
   */
  async doubt({ owner, service }: DesiredLoadBalancer, kind?: string): Promise<void> {
    const { balancers, rig } = this;
    const { consistency, namedByOwner = [] } = balancers;
    const until = rig.clock.monotonic() + WAIT_MS;
    // The request may still be on its way.
    await rig.wait(STRONG_MS);
    if (consistency === 'strong') return;
    const kinds = namedByOwner.filter((one) => kind === undefined || one === kind);
    while (rig.clock.monotonic() < until) {
      if (balancers.read && kinds.length > 0) {
        const answers = await this.ask(...kinds.map((one) => ({ kind: one, owner })));
        const { parts } = await this.look(service);
        const isClear = answers.every((answer, i) => {
          const isShown = parts.some((part) => part.kind === kinds[i]);
          return answer.kind === 'absent' || (answer.kind === 'there' && isShown);
        });
        if (isClear) return;
      }
      await rig.wait(5_000);
    }
  }

  /** So that it is taken away when the test is over. */
  #remember(desired: DesiredLoadBalancer): void {
    const { owner, service, wanted } = desired;
    if (!wanted) return;
    const isNew = !this.#made.has(owner.uid);
    this.#made.set(owner.uid, desired);
    if (!isNew) return;
    const what = `load balancer of ${service.name} (cluster ID ${owner.clusterId}, UID ${owner.uid})`;
    this.rig.defer(what, () => this.remove(this.#made.get(owner.uid) ?? desired));
  }
}

interface PassOptions extends BringOptions {
  /** The process has died: a request that fails ends it. Default: false. */
  readonly stopsAtFailure?: boolean;
}

/** One Service on its way. */
class Pass {
  readonly #user: LoadBalancerUser;
  readonly #desired: DesiredLoadBalancer;
  readonly #options: PassOptions;
  readonly #actions: LoadBalancerAction[] = [];
  /** What was made here, and has not been taken away: a look that leaves it out is not believed at once. */
  #made: readonly PartName[] = [];
  #failures = 0;
  #lastPlan = '';

  constructor(user: LoadBalancerUser, desired: DesiredLoadBalancer, options: PassOptions) {
    this.#user = user;
    this.#desired = desired;
    this.#options = options;
  }

  async run(): Promise<Brought> {
    let idle = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const found = await this.#round();
      if (found.kind === 'complete') return { ...found, actions: this.#actions };
      // As the host: ever more seldom while nothing is to be done, or the same once more.
      idle = found.isIdle ? idle + 1 : 0;
      const pause = idle === 0 ? 0 : Math.min(30_000, 1_000 * 1.5 ** (idle - 1));
      await this.#user.rig.wait(Math.max(pause, found.afterMs));
    }
    const { service, wanted } = this.#desired;
    const last = this.#actions.slice(-3).map(({ kind, part }) => `${kind} ${part}`);
    throw new Error(
      `${service.name} does not come to ${wanted ? 'be served' : 'be gone'}; the last actions: ${last.join(', ') || 'none'}`,
    );
  }

  async #round(): Promise<
    | {
        readonly kind: 'complete';
        readonly ingress: readonly LoadBalancerIngress[];
        readonly parts: readonly LoadBalancerPart[];
      }
    | { readonly kind: 'goes-on'; readonly isIdle: boolean; readonly afterMs: number }
  > {
    const user = this.#user;
    const { owner } = this.#desired;
    let seen: SeenParts;
    try {
      seen = await this.#lookAtAll();
    } catch (error) {
      return this.#afterFailure(error);
    }
    const planned = user.plan(this.#desired, seen);
    if (planned.kind === 'refused') throw planned.error;
    const { complete, desired, plan } = planned;
    this.#options.onPlan?.(plan, seen.parts);
    if (complete) {
      const parts = seen.parts.filter((part) => sameOwner(part.owner, owner));
      return { kind: 'complete', ingress: plan.ingress, parts };
    }
    let afterMs = user.balancers.listLagMs ?? 0;
    const words = JSON.stringify(plan.actions);
    const isIdle = plan.actions.length === 0 || words === this.#lastPlan;
    this.#lastPlan = words;
    for (const action of plan.actions) {
      const result = await user.apply(action, desired);
      this.#actions.push(action);
      await this.#options.onAction?.(action, desired, seen.parts);
      if (result.kind === 'failed') {
        const after = await this.#afterFailure(result.error);
        if (effectOf(result.error) === 'unknown') {
          await user.doubt(this.#desired, action.kind === 'create' ? action.part : undefined);
        }
        return after;
      }
      this.#failures = 0;
      this.#note(action, result);
      if (result.kind === 'pending') afterMs = Math.max(afterMs, result.pollAfterMs);
    }
    return { kind: 'goes-on', isIdle, afterMs };
  }

  /** A look that leaves out what was made a moment ago is no ground for a plan. */
  async #lookAtAll(): Promise<SeenParts> {
    const user = this.#user;
    const since = user.rig.clock.monotonic();
    for (;;) {
      const seen = await user.look(this.#desired.service);
      const hidden = this.#made.filter(
        ({ id, kind }) => !seen.parts.some((part) => part.id === id && part.kind === kind),
      );
      const isOver = user.rig.clock.monotonic() - since > WAIT_MS;
      if (hidden.length === 0 || user.balancers.consistency === 'strong' || isOver) return seen;
      await user.rig.wait(2_000);
    }
  }

  async #afterFailure(
    error: unknown,
  ): Promise<{ readonly kind: 'goes-on'; readonly isIdle: false; readonly afterMs: number }> {
    if (this.#options.stopsAtFailure) throw new Stopped();
    const code = isCloudError(error) ? error.code : '';
    if (!PASSING.has(code) || ++this.#failures > FAILURES_IN_A_ROW) throw error;
    const { retryAfterMs = 5_000 } = error as { readonly retryAfterMs?: number };
    return { kind: 'goes-on', isIdle: false, afterMs: retryAfterMs };
  }

  #note({ ends = [], id, kind, part }: LoadBalancerAction, result: LoadBalancerActionResult): void {
    if (result.kind !== 'failed' && result.made) this.#made = [...this.#made, result.made];
    const gone = [...ends, ...(kind === 'delete' && id !== undefined ? [{ kind: part, id }] : [])];
    this.#made = this.#made.filter((one) => !gone.some((name) => name.id === one.id && name.kind === one.kind));
  }
}

/** How many parts of each kind, in words: what two load balancers of one shape have in common. */
export function shapeOf(parts: readonly LoadBalancerPart[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of parts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return (
    [...counts]
      .map(([kind, count]) => `${count} ${kind}`)
      .toSorted()
      .join(', ') || 'nothing'
  );
}
