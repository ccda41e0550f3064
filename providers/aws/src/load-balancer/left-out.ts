/** Machines that a load balancer cannot have: the others are served, and the Service is told when all else is done. */
import {
  CloudError,
  type CloudErrorCode,
  type Clock,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerActionResult,
  type LoadBalancerPlan,
} from '@outrigger/cloud-provider';

const SHOWN = 5;
/** For so long they are not tried again, so that a Service without any other work is complete. */
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

/** All but these machines has been done. */
export class LeftOutError extends CloudError {
  readonly part: string;
  readonly ids: readonly string[];

  /** `part`: its ID. */
  constructor(part: string, ids: Iterable<string>, why: Error, code: CloudErrorCode = 'conflict') {
    const all = [...new Set(ids)].toSorted();
    super(code, all.length > 1 ? `${why.message} (${all.length} instances in all: ${listed(all)})` : why.message, {
      effect: 'unknown',
      cause: why,
    });
    this.part = part;
    this.ids = all;
  }
}

/** `i-1, i-2 and 3 others`. */
export function listed(ids: readonly string[]): string {
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} others` : '';
  return `${ids.slice(0, SHOWN).join(', ')}${more}`;
}

/** Who was left out a short while ago, by the ID of the part. */
export class LeftOut {
  readonly #clock: Clock;
  readonly #known = new Map<string, { readonly ids: readonly string[]; readonly at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As shown: with those that are not to be tried again yet. */
  with(part: string, ids: readonly string[]): readonly string[] {
    const known = this.#known.get(part);
    if (!known || this.#clock.monotonic() - known.at >= LEFT_OUT_MS) return ids;
    return [...new Set([...ids, ...known.ids])].toSorted();
  }

  /** Of what is registered, without those. */
  without(part: string, ids: readonly string[]): readonly string[] {
    const known = new Set(this.with(part, []));
    return ids.filter((id) => !known.has(id));
  }

  told({ ids, part }: LeftOutError): void {
    const at = this.#clock.monotonic();
    for (const [id, known] of this.#known) if (at - known.at >= LEFT_OUT_MS) this.#known.delete(id);
    this.#known.set(part, { ids, at });
  }

  forget(part: string): void {
    this.#known.delete(part);
  }
}

/** A change that would cut off machines that are served now has to wait; those of which nothing is clear have no say. */
export function hasToWait({ instances, refused }: Closed, served: readonly string[]): boolean {
  return served.some((id) => refused.has(id)) || (served.length > 0 && served.every((id) => instances.has(id)));
}

type Apply = () => Promise<LoadBalancerActionResult>;

interface Pass {
  readonly last: LoadBalancerAction | undefined;
  readonly errors: LeftOutError[];
}

/** The host begins nothing after the first action that fails: who is left out in one of them is told with the last one. */
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
      if (!(error instanceof LeftOutError)) throw error;
      errors.push(error);
    }
    const [first] = errors;
    // What was made the host has to hear of; the next pass finds them again.
    if (!isLast || !first || ('made' in result && result.made)) return result;
    this.#passes.delete(uid);
    for (const error of errors) this.#leftOut.told(error);
    throw first;
  }
}
