/** Writes of many Services to one object of the cloud, gathered: while one is in flight, the changes of others wait, and the next carries them all. */
import { isDeepStrictEqual } from 'node:util';
import {
  CloudError,
  effectOf,
  isCloudError,
  type CallContext,
  type CallPriority,
  type CloudErrorCode,
  type CloudErrorEffect,
  type CloudErrorShape,
  type ProviderHost,
} from '@outrigger/cloud-provider';

/** An object as it was read or written, with what a conditional write names: an ETag, a fingerprint, a revision. */
export interface Versioned<S> {
  readonly state: S;
  /** Another one after each change of the object, whoever made it. */
  readonly version: string;
}

/** How the cloud keeps objects that many Services share: one load balancer, one security group, one route table. */
export interface SharedObjects<S> {
  /** From the cloud itself, never from a cache or a list that lags. */
  read(id: string, call: CallContext): Promise<Versioned<S>>;
  /**
   * Writes all of it, if it still has this version (`If-Match`). `changed`: it has another one by now (412), and nothing was written.
   * `written`: with what the cloud answered; without `next`, it is read again when it is needed. Throws a `CloudError` otherwise;
   * its effect is what the callers are told.
   */
  write(
    id: string,
    state: S,
    version: string,
    call: CallContext,
  ): Promise<{ readonly kind: 'changed' } | { readonly kind: 'written'; readonly next?: Versioned<S> | undefined }>;
}

export interface GroupCommitOptions<S> {
  readonly host: Pick<ProviderHost, 'callContext' | 'clock'>;
  readonly objects: SharedObjects<S>;
  /** Changes that one write carries at most. Default: 100. */
  readonly maxChanges?: number;
}

/**
 * What one Service wants of the object, whatever else is in it. Pure, and idempotent: of a state that has the change already it
 * makes the same state. Called again for each state that it is to be made on, which is frozen. Throw what cannot be: that fails this
 * change alone.
 */
export type Change<S> = (state: S) => S;

interface Waiting<S> {
  readonly change: Change<S>;
  readonly call: CallContext;
  readonly settled: PromiseWithResolvers<S>;
  /** `unknown` from when a write that carries it is sent, until it is known that this one cannot take effect any more. */
  effect: CloudErrorEffect;
  isOver: boolean;
}

/** One object that is being written, and what waits for it. */
interface Lane<S> {
  readonly waiting: Waiting<S>[];
  isServed: boolean;
  /** As the last write left it. Others may have written it since: only a conditional write proves that they have not. */
  remembered: Versioned<S> | undefined;
  /** On the monotonic clock: when it was last written. */
  usedAt: number;
}

interface Plan<S> {
  readonly next: S;
  readonly carried: readonly Waiting<S>[];
  readonly refused: readonly { readonly one: Waiting<S>; readonly error: unknown }[];
  /** The state has all of `carried` already. */
  readonly isThere: boolean;
}

/** Of a write, by the cloud, for what may be the fault of some of the changes that it carried. */
interface Refusal {
  readonly error: CloudErrorShape;
  readonly carried: number;
}

const DEFAULT_MAX_CHANGES = 100;
/** So often in a row the object may be another one at the write than at the read before it. */
const MOST_CONFLICTS = 8;
const CONFLICT_BASE_MS = 50;
/** So long an object that nobody writes is remembered: whoever waited for one write often asks for the next one at once. */
const REMEMBERED_MS = 5_000;
const PRIORITIES: readonly CallPriority[] = ['critical', 'normal', 'background'];

/**
 * What may be one change's own fault: where a write of several is refused so, each half is tried by itself. Anything else (a token,
 * a rate limit, a cloud that is down) would refuse each of them.
 */
const OWN_FAULTS: ReadonlySet<CloudErrorCode> = new Set([
  'conflict',
  'forbidden',
  'invalid',
  'not-found',
  'not-owned',
  'quota',
  'unsupported',
]);

/** One for each kind of shared object, for the life of the provider. Objects are known by their IDs, and do not wait for one another. */
export class GroupCommit<S> {
  readonly #host: GroupCommitOptions<S>['host'];
  readonly #objects: SharedObjects<S>;
  readonly #maxChanges: number;
  readonly #lanes = new Map<string, Lane<S>>();

  constructor({ host, objects, maxChanges = DEFAULT_MAX_CHANGES }: GroupCommitOptions<S>) {
    this.#host = host;
    this.#objects = objects;
    this.#maxChanges = maxChanges;
  }

  /**
   * Resolves when the object has the change, to a state that has it. Changes are made in the order of the calls, so those of one
   * Service in its own. Rejects with a `CloudError` whose `effect` is this change's: `none` where no write that carried it has taken
   * effect, or still can. Gives up when `call.signal` aborts; a write that carries others' changes too goes on.
   */
  change(id: string, change: Change<S>, call: CallContext): Promise<S> {
    const { signal } = call;
    const one: Waiting<S> = { change, call, settled: Promise.withResolvers<S>(), effect: 'none', isOver: false };
    const giveUp = (): void => fail(one, gaveUp(id, signal.reason));
    if (signal.aborted) giveUp();
    else {
      signal.addEventListener('abort', giveUp, { once: true });
      this.#wait(id, one);
    }
    return one.settled.promise.finally(() => signal.removeEventListener('abort', giveUp));
  }

  #wait(id: string, one: Waiting<S>): void {
    const now = this.#host.clock.monotonic();
    for (const [other, { isServed, usedAt }] of this.#lanes) {
      if (!isServed && now - usedAt > REMEMBERED_MS) this.#lanes.delete(other);
    }
    const lane = this.#lanes.get(id) ?? { waiting: [], isServed: false, remembered: undefined, usedAt: now };
    this.#lanes.set(id, lane);
    lane.waiting.push(one);
    if (!lane.isServed) void this.#serve(id, lane);
  }

  /** Until nothing waits. Never rejects. */
  async #serve(id: string, lane: Lane<S>): Promise<void> {
    lane.isServed = true;
    // What is asked for in the same turn goes together from the first write on.
    await Promise.resolve();
    while (lane.waiting.length > 0) {
      const group = lane.waiting.splice(0, this.#maxChanges).filter(isLiving);
      if (group.length > 0) await this.#commit(id, lane, group);
    }
    lane.isServed = false;
    lane.usedAt = this.#host.clock.monotonic();
  }

  /** Each of the group is over when it resolves. Never rejects. */
  async #commit(id: string, lane: Lane<S>, group: readonly Waiting<S>[]): Promise<void> {
    let refusal: Refusal | undefined;
    try {
      using context = groupContext(this.#host, group);
      refusal = await this.#tryAll(id, lane, group, context.call);
    } catch (error) {
      for (const one of group) fail(one, error);
    }
    const living = group.filter(isLiving);
    if (refusal?.carried === 1) for (const one of living) fail(one, refusal.error);
    else {
      // One of those that have given up since may be the one that was refused: also a last one is tried by itself.
      const middle = Math.ceil(living.length / 2);
      for (const half of [living.slice(0, middle), living.slice(middle)]) {
        const still = half.filter(isLiving);
        if (still.length > 0) await this.#commit(id, lane, still);
      }
    }
  }

  /** Gives back why the cloud refuses those that are not over, where that may be the fault of some; rejects with what fails them all. */
  async #tryAll(
    id: string,
    lane: Lane<S>,
    group: readonly Waiting<S>[],
    call: CallContext,
  ): Promise<Refusal | undefined> {
    let seen: Versioned<S> | undefined;
    for (let conflicts = 0; conflicts <= MOST_CONFLICTS; conflicts++) {
      if (conflicts > 0) await this.#host.clock.sleep(CONFLICT_BASE_MS * 2 ** (conflicts - 1), call.signal);
      const remembered = seen ? undefined : lane.remembered;
      lane.remembered = undefined;
      let base = seen ?? remembered ?? (await this.#objects.read(id, call));
      let plan = planOf(group, base.state);
      if (remembered && (plan.isThere || plan.refused.length > 0)) {
        base = await this.#objects.read(id, call);
        plan = planOf(group, base.state);
      }
      for (const { one, error } of plan.refused) fail(one, error);
      if (plan.isThere) for (const one of plan.carried) succeed(one, base.state);
      if (plan.isThere || plan.carried.length === 0) {
        lane.remembered = base;
        return undefined;
      }
      const outcome = await this.#write(id, lane, base, plan, call);
      if (outcome.kind !== 'changed') return outcome.refusal;
      seen = outcome.now;
    }
    const text = `${id} was changed by others ${MOST_CONFLICTS + 1} times in a row, between a read and the write after it`;
    throw new CloudError('conflict', text, { effect: 'none' });
  }

  /** `changed`: what is there now, where the object is another one than was planned for. Rejects with what fails all that are carried. */
  async #write(
    id: string,
    lane: Lane<S>,
    base: Versioned<S>,
    { carried, next }: Plan<S>,
    call: CallContext,
  ): Promise<
    | { readonly kind: 'over'; readonly refusal: Refusal | undefined }
    | { readonly kind: 'changed'; readonly now: Versioned<S> }
  > {
    const mark = (effect: CloudErrorEffect): void => {
      for (const one of carried) one.effect = effect;
    };
    mark('unknown');
    let lost: { readonly error: unknown } | undefined;
    try {
      const answer = await this.#objects.write(id, next, base.version, call);
      if (answer.kind === 'written') {
        lane.remembered = answer.next;
        for (const one of carried) succeed(one, answer.next?.state ?? next);
        return { kind: 'over', refusal: undefined };
      }
      mark('none');
    } catch (error) {
      if (effectOf(error) === 'none') {
        mark('none');
        if (isCloudError(error) && OWN_FAULTS.has(error.code))
          return { kind: 'over', refusal: { error, carried: carried.length } };
        throw error;
      }
      lost = { error };
    }
    const now = await this.#readAfter(id, lost, call);
    // A write that names a version which is no more can never take effect. Of one that is still there it may: nobody knows.
    if (lost && now.version === base.version) throw lost.error;
    mark('none');
    for (const one of carried) if (isThere(one, now.state)) succeed(one, now.state);
    return { kind: 'changed', now };
  }

  /** Where nothing can be read, what was lost is what there is to say. */
  async #readAfter(
    id: string,
    lost: { readonly error: unknown } | undefined,
    call: CallContext,
  ): Promise<Versioned<S>> {
    try {
      return await this.#objects.read(id, call);
    } catch (error) {
      throw lost ? lost.error : error;
    }
  }
}

function planOf<S>(group: readonly Waiting<S>[], state: S): Plan<S> {
  // A change that wrote into it would be taken for one that is there already.
  freeze(state);
  let next = state;
  const carried: Waiting<S>[] = [];
  const refused: { readonly one: Waiting<S>; readonly error: unknown }[] = [];
  for (const one of group.filter(isLiving)) {
    try {
      next = one.change(next);
      carried.push(one);
    } catch (error) {
      refused.push({ one, error });
    }
  }
  return { next, carried, refused, isThere: carried.length > 0 && isDeepStrictEqual(next, state) };
}

function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const one of Object.values(value)) freeze(one);
}

/** A change that now throws is not there. */
function isThere<S>({ change }: Waiting<S>, state: S): boolean {
  try {
    return isDeepStrictEqual(change(state), state);
  } catch {
    return false;
  }
}

/** Of the highest priority among them; aborts when none of them waits any more. */
function groupContext<S>(
  host: GroupCommitOptions<S>['host'],
  group: readonly Waiting<S>[],
): Disposable & { readonly call: CallContext } {
  const abandoned = new AbortController();
  const look = (): void => {
    const last = group.find(({ call }) => call.signal.aborted);
    if (last && group.every(({ call, isOver }) => isOver || call.signal.aborted))
      abandoned.abort(last.call.signal.reason);
  };
  for (const { call } of group) call.signal.addEventListener('abort', look);
  const priority = PRIORITIES.find((one) => group.some(({ call }) => call.priority === one)) ?? 'normal';
  return {
    call: host.callContext({ priority, signal: abandoned.signal }),
    [Symbol.dispose]: () => {
      for (const { call } of group) call.signal.removeEventListener('abort', look);
    },
  };
}

function isLiving<S>({ isOver }: Waiting<S>): boolean {
  return !isOver;
}

function succeed<S>(one: Waiting<S>, state: S): void {
  if (one.isOver) return;
  one.isOver = true;
  one.settled.resolve(state);
}

/** With an error of its own: the host writes onto errors. */
function fail<S>(one: Waiting<S>, error: unknown): void {
  if (one.isOver) return;
  one.isOver = true;
  const { effect } = one;
  const message = error instanceof Error ? error.message : String(error);
  const [code, retryAfterMs] = isCloudError(error) ? [error.code, error.retryAfterMs] : ['unavailable' as const];
  one.settled.reject(new CloudError(code, message, { effect, retryAfterMs, cause: error }));
}

function gaveUp(id: string, reason: unknown): CloudError {
  const isLate = reason instanceof Error && reason.name === 'TimeoutError';
  const text = `the write of ${id} was given up: ${reason instanceof Error ? reason.message : 'aborted'}`;
  return new CloudError(isLate ? 'timeout' : 'unavailable', text, { cause: reason });
}
