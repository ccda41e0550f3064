/** Machines that a load balancer cannot have: the others are served, and a warning names them until they are taken. */
import {
  asError,
  CloudError,
  cutText,
  sameOwner,
  type Clock,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPart,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';
import type { Attributes } from '@outrigger/provider-kit';

const SHOWN = 5;
/** For so long they are shown as if they were there, so that whatever else the Service needs is done; twice as long after each try. */
const FIRST_MS = 60_000;
const LONGEST_MS = 1_800_000;
/** Of a warning, beside the mark of what is cut. */
const MOST_CHARACTERS = 299;

/** Why a group of a node does not let a load balancer in. */
export interface Closed {
  readonly instances: ReadonlySet<string>;
  /** The first that EC2 has refused, else the first that is not clear. */
  readonly error: CloudError;
  /** Those for which EC2 has refused a rule; of the others it was not clear which group is the node's. */
  readonly refused: ReadonlySet<string>;
}

/** Something has to wait for these machines; all else goes on. */
export class WaitsError extends CloudError {
  readonly ids: readonly string[];

  constructor(ids: Iterable<string>, why: Error) {
    const all = [...new Set(ids)].toSorted();
    super(
      'conflict',
      all.length > 1 ? `${why.message} (${all.length} instances in all: ${listed(all)})` : why.message,
      {
        effect: 'unknown',
        cause: why,
      },
    );
    this.ids = all;
  }
}

/** All but these machines has been done of the part, and others are served. */
export class LeftOutError extends WaitsError {}

/** `i-1, i-2 and 3 others`. */
export function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} others` : '';
  return `${ids.slice(0, SHOWN).join(', ')}${more}`;
}

interface Known {
  readonly ids: readonly string[];
  /** Of the try before. */
  readonly earlier: readonly string[];
  readonly why: string;
  readonly at: number;
  /** Until they are tried again. */
  readonly waitMs: number;
  /** They are being tried. */
  readonly isOver: boolean;
}

/** Who was left out of late, by the ID of the part. */
export class LeftOut {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Of a part with these registered, those that are not to be tried again yet: an attribute of it, for `told`. None where no other is served. */
  of(part: string, ids: readonly string[]): readonly string[] {
    const left = this.#left(part);
    const all = new Set(left);
    return ids.some((id) => !all.has(id)) ? left : [];
  }

  /** As shown: with those. */
  with(part: string, ids: readonly string[]): readonly string[] {
    const left = this.of(part, ids);
    return left.length === 0 ? ids : [...new Set([...ids, ...left])].toSorted();
  }

  /** Of what is registered, without those. */
  without(part: string, ids: readonly string[]): readonly string[] {
    const left = new Set(this.of(part, ids));
    return ids.filter((id) => !left.has(id));
  }

  #left(part: string): readonly string[] {
    const known = this.#known.get(part);
    return known && !known.isOver && this.#clock.monotonic() - known.at < known.waitMs ? known.ids : [];
  }

  /** The same again is tried ever more seldom; with another among them, soon. */
  note(part: string, error: LeftOutError): void {
    const at = this.#clock.monotonic();
    for (const [id, known] of this.#known) if (at - known.at >= 2 * LONGEST_MS) this.#known.delete(id);
    const before = this.#known.get(part);
    const left = this.#left(part);
    const isNewTry = left.length === 0;
    const earlier = (isNewTry ? before?.ids : before?.earlier) ?? [];
    const isSame = error.ids.every((id) => earlier.includes(id) || left.includes(id));
    // Not with what changes meanwhile, as with each node that joins.
    const wasDue = isNewTry && before && at - before.at >= before.waitMs;
    const sameMs = wasDue ? 2 * before.waitMs : before?.waitMs;
    const waitMs = isSame && sameMs ? Math.min(sameMs, LONGEST_MS) : FIRST_MS;
    const ids = [...new Set([...left, ...error.ids])];
    this.#known.set(part, { ids, earlier, why: asError(error.cause).message, at, waitMs, isOver: false });
  }

  /** All of the part are tried now. */
  trying(part: string): void {
    const known = this.#known.get(part);
    if (known) this.#known.set(part, { ...known, isOver: true });
  }

  /** What was tried was taken. */
  done(part: string): void {
    if (this.#known.get(part)?.isOver) this.#known.delete(part);
  }

  /** A Service of which some are left out is as it can be: a warning says so, and they are tried again. */
  told(
    { owner, wanted }: DesiredLoadBalancer,
    plan: LoadBalancerPlan,
    parts: readonly LoadBalancerPart[],
  ): LoadBalancerPlan {
    if (!wanted || !plan.complete) return plan;
    const own = parts.filter(({ attributes, owner: whose }) => sameOwner(whose, owner) && isLackingIn(attributes));
    const all = own.flatMap(({ id }) => this.#known.get(id) ?? []);
    const [first] = all;
    if (!first) return plan;
    const now = this.#clock.monotonic();
    const waits = all.map(({ at, waitMs }) => at + waitMs - now);
    // Those that are due soon after the first are tried with it.
    const together = Math.min(...waits) + FIRST_MS;
    const ids = [...new Set(all.flatMap((one) => one.ids))].toSorted();
    const message = `Instances left out of the load balancer, and tried again later: ${listed(ids)}. ${first.why}`;
    const warning = { reason: 'InstancesLeftOut', message: cutText(message, MOST_CHARACTERS) };
    return {
      ...plan,
      warnings: [...(plan.warnings ?? []), warning],
      againAfterMs: Math.max(...waits.filter((wait) => wait <= together)),
    };
  }

  forget(part: string): void {
    this.#known.delete(part);
  }
}

const isLackingIn = ({ leftOut }: Attributes): boolean => Array.isArray(leftOut) && leftOut.length > 0;

/** Throws for those that are not served. What is there, and of which only its group is not clear, is. */
export function checkServed(
  wanted: readonly string[],
  there: readonly string[],
  closed: Closed | undefined,
  refused: { readonly ids: readonly string[]; readonly error?: Error },
): void {
  const shut = new Set(closed?.instances).difference(new Set(there)).union(closed?.refused ?? new Set<string>());
  const left = shut.union(new Set(refused.ids));
  const error = shut.size > 0 ? closed?.error : refused.error;
  if (error) throw new (wanted.some((id) => !left.has(id)) ? LeftOutError : WaitsError)(left, error);
}

/** A change that would cut off machines that are served now has to wait; those of which nothing is clear have no say. */
export function hasToWait({ instances, refused }: Closed, served: readonly string[]): boolean {
  return served.some((id) => refused.has(id)) || (served.length > 0 && served.every((id) => instances.has(id)));
}

type Apply = () => Promise<LoadBalancerActionResult>;

interface Pass {
  readonly actions: readonly LoadBalancerAction[];
  readonly errors: WaitsError[];
}

/** The host begins nothing after the first action that fails: what has to wait in one of them is told with the last one. */
export class ToldLast {
  readonly #leftOut: LeftOut;
  /** Of each action of a plan. One that is made to be shown, while another is carried out, is another pass. */
  readonly #passes = new WeakMap<LoadBalancerAction, Pass>();

  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  planned(plan: LoadBalancerPlan): LoadBalancerPlan {
    const pass: Pass = { actions: plan.actions, errors: [] };
    for (const action of plan.actions) this.#passes.set(action, pass);
    return plan;
  }

  async apply(action: LoadBalancerAction, apply: Apply): Promise<LoadBalancerActionResult> {
    const { actions, errors }: Pass = this.#passes.get(action) ?? { actions: [action], errors: [] };
    if (action === actions[0]) errors.length = 0;
    let result: LoadBalancerActionResult = { kind: 'done' };
    try {
      result = await apply();
      this.#leftOut.done(`${action.id}`);
    } catch (error) {
      if (!(error instanceof WaitsError)) throw error;
      if (error instanceof LeftOutError) this.#leftOut.note(`${action.id}`, error);
      else errors.push(error);
    }
    const [first] = errors;
    // What was made the host has to hear of; the next pass finds them again.
    if (action !== actions.at(-1) || !first || ('made' in result && result.made)) return result;
    throw first;
  }
}
