/** Machines that a load balancer cannot have: the others are served, and the Service is told when all else is done, and until they are taken. */
import {
  CloudError,
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
/** For so long they are shown as if they were there, so that whatever else the Service needs is done. */
const LEFT_OUT_MS = 60_000;
/** Far more than are under way at a time. Not each ends: a Service may be let go, or be served by another, in the middle of it. */
const MOST_PASSES = 1_000;

/** Why a group of a node does not let a load balancer in. */
export interface Closed {
  readonly instances: ReadonlySet<string>;
  /** The first. */
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

/** All but these machines has been done of the part. */
export class LeftOutError extends WaitsError {}

/** `i-1, i-2 and 3 others`. */
export function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} others` : '';
  return `${ids.slice(0, SHOWN).join(', ')}${more}`;
}

interface Known {
  readonly ids: readonly string[];
  readonly error: LeftOutError;
  readonly at: number;
}

/** Who was left out a short while ago, by the ID of the part. */
export class LeftOut {
  readonly #clock: Clock;
  readonly #known = new Map<string, Known>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Those that are not to be tried again yet: an attribute of the part, for `checked`. */
  of(part: string): readonly string[] {
    const known = this.#known.get(part);
    return known && this.#clock.monotonic() - known.at < LEFT_OUT_MS ? known.ids : [];
  }

  /** As shown: with those. */
  with(part: string, ids: readonly string[]): readonly string[] {
    const left = this.of(part);
    return left.length === 0 ? ids : [...new Set([...ids, ...left])].toSorted();
  }

  /** Of what is registered, without those. */
  without(part: string, ids: readonly string[]): readonly string[] {
    const known = new Set(this.of(part));
    return ids.filter((id) => !known.has(id));
  }

  note(part: string, error: LeftOutError): void {
    const ids = [...new Set([...this.of(part), ...error.ids])];
    const at = this.#clock.monotonic();
    // A plan may rest on a look of some time ago.
    for (const [id, known] of this.#known) if (at - known.at >= 2 * LEFT_OUT_MS) this.#known.delete(id);
    this.#known.set(part, { ids, error, at });
  }

  /**
   * A Service of which some are left out is never as it should be: the plan fails, and the host tries again, ever more seldom. Not before
   * it has its address, which the host takes of no plan that fails.
   */
  checked(
    { owner, service, wanted }: DesiredLoadBalancer,
    plan: LoadBalancerPlan,
    parts: readonly LoadBalancerPart[],
  ): LoadBalancerPlan {
    if (!wanted || !plan.complete) return plan;
    const part = parts.find(({ attributes, owner: whose }) => sameOwner(whose, owner) && isLackingIn(attributes));
    const known = part && this.#known.get(part.id);
    if (!known) return plan;
    const isTold = plan.ingress.every(({ hostname }) => service.ingress.some((one) => one.hostname === hostname));
    if (isTold) throw known.error;
    return { ...plan, complete: false };
  }

  forget(part: string): void {
    this.#known.delete(part);
  }
}

const isLackingIn = ({ leftOut }: Attributes): boolean => Array.isArray(leftOut) && leftOut.length > 0;

/** A change that would cut off machines that are served now has to wait; those of which nothing is clear have no say. */
export function hasToWait({ instances, refused }: Closed, served: readonly string[]): boolean {
  return served.some((id) => refused.has(id)) || (served.length > 0 && served.every((id) => instances.has(id)));
}

type Apply = () => Promise<LoadBalancerActionResult>;

interface Pass {
  readonly last: LoadBalancerAction | undefined;
  readonly errors: WaitsError[];
}

/** The host begins nothing after the first action that fails: what has to wait in one of them is told with the last one. */
export class ToldLast {
  readonly #leftOut: LeftOut;
  /** By UID of the Service. */
  readonly #passes = new Map<string, Pass>();

  constructor(leftOut: LeftOut) {
    this.#leftOut = leftOut;
  }

  planned({ service: { uid } }: DesiredLoadBalancer, plan: LoadBalancerPlan): LoadBalancerPlan {
    const last = plan.actions.at(-1);
    this.#passes.delete(uid);
    if (last) this.#passes.set(uid, { last, errors: [] });
    const [oldest] = this.#passes.keys();
    if (oldest !== undefined && this.#passes.size > MOST_PASSES) this.#passes.delete(oldest);
    return plan;
  }

  async apply(
    action: LoadBalancerAction,
    { service: { uid } }: DesiredLoadBalancer,
    apply: Apply,
  ): Promise<LoadBalancerActionResult> {
    const { errors, last }: Pass = this.#passes.get(uid) ?? { last: undefined, errors: [] };
    const isLast =
      last === undefined || (last.kind === action.kind && last.part === action.part && last.id === action.id);
    let result: LoadBalancerActionResult = { kind: 'done' };
    try {
      result = await apply();
    } catch (error) {
      if (!(error instanceof WaitsError)) throw error;
      if (error instanceof LeftOutError) this.#leftOut.note(`${action.id}`, error);
      else errors.push(error);
    }
    const [first] = errors;
    // What was made the host has to hear of; the next pass finds them again.
    if (!isLast || !first || ('made' in result && result.made)) return result;
    this.#passes.delete(uid);
    throw first;
  }
}
