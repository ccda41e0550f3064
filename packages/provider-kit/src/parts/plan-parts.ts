/** From the parts that are wanted and those that are there to what has to be done. Pure. Entry points `planParts` and `planMembersOf`. */
import { isDeepStrictEqual } from 'node:util';
import {
  CloudError,
  isCloudError,
  sameOwner,
  type DesiredLoadBalancer,
  type LoadBalancerAction,
  type LoadBalancerIngress,
  type LoadBalancerPart,
  type LoadBalancerPlan,
  type LoadBalancerService,
  type LoadBalancerWarning,
  type Owner,
} from '@outrigger/cloud-provider';
import type { Attributes, PartKind, WantedPart } from './part-kind.ts';

/** An observed part, with which one of its kind it is. */
export interface KeyedPart extends LoadBalancerPart {
  readonly attributes: Attributes & { readonly key?: string };
}

export interface PlanOptions {
  /** Each after those that it needs. */
  readonly kinds: readonly PartKind[];
  /** Requests take effect after they were answered: what hangs on one waits for the next look. */
  readonly isAsync: boolean;
  /** Where it is reached, of a Service that has all its parts. */
  readonly ingress: (own: readonly LoadBalancerPart[], desired: DesiredLoadBalancer) => readonly LoadBalancerIngress[];
  /** Of a wish that is served. Default: none. */
  readonly warnings?: ((desired: DesiredLoadBalancer) => readonly LoadBalancerWarning[]) | undefined;
}

/** In the order of making. Throws an `Error` for a circle, and for a kind that is not declared. */
export function inOrder(kinds: readonly PartKind[]): readonly PartKind[] {
  const ordered: PartKind[] = [];
  const visit = (one: PartKind, path: readonly string[]): void => {
    if (path.includes(one.kind)) throw new Error(`kinds of parts need one another: ${[...path, one.kind].join(' → ')}`);
    for (const need of one.needs ?? []) {
      const needed = kinds.find(({ kind }) => kind === need);
      if (!needed) throw new Error(`${one.kind} needs ${need}, which is no kind of part`);
      visit(needed, [...path, one.kind]);
    }
    if (!ordered.includes(one)) ordered.push(one);
  };
  for (const one of kinds) visit(one, []);
  return ordered;
}

export function planParts(
  desired: DesiredLoadBalancer,
  parts: readonly KeyedPart[],
  options: PlanOptions,
): LoadBalancerPlan {
  const claims = parts.filter(({ owner }) => owner === undefined);
  if (claims.length > 0) return unfinished(claims.map((part) => claimOf(part)));
  const own = parts.filter((part) => sameOwner(part.owner, desired.owner));
  if (!desired.wanted) {
    return { actions: removal(own, own, [], options), complete: own.length === 0, ingress: [] };
  }
  const taken = parts.find((part) => isInTheWay(options, part, desired.service, desired.owner));
  if (taken) return { ...unfinished([]), refused: takenBy(taken, desired.owner) };
  try {
    const warnings = options.warnings?.(desired) ?? [];
    return { ...new Making(desired, own, options).plan(), ...(warnings.length > 0 && { warnings }) };
  } catch (error) {
    if (!isCloudError(error)) throw error;
    return { ...unfinished([]), refused: error };
  }
}

/** A part of another owner that has what one alone can have. */
export function isInTheWay(
  { kinds }: Pick<PlanOptions, 'kinds'>,
  part: LoadBalancerPart,
  service: LoadBalancerService,
  owner: Owner,
): boolean {
  if (part.owner === undefined || sameOwner(part.owner, owner)) return false;
  return kinds.some((kind) => kind.kind === part.kind && kind.clashes?.(part, service));
}

/** Of another it says no more than that there is one. */
function takenBy({ kind, owner }: LoadBalancerPart, { clusterId }: Owner): CloudError {
  return owner?.clusterId === clusterId
    ? new CloudError('conflict', `the ${kind} that it asks for still belongs to another Service`)
    : new CloudError('not-owned', `the ${kind} that it asks for belongs to another cluster; ask for another one`);
}

/** Of parts that are there, whatever is wanted of them besides. */
export function planMembersOf(
  desired: DesiredLoadBalancer,
  parts: readonly KeyedPart[],
  { kinds }: Pick<PlanOptions, 'kinds'>,
): LoadBalancerPlan {
  let complete = true;
  const actions = kinds.flatMap((kind) =>
    parts
      .filter((part) => part.kind === kind.kind && sameOwner(part.owner, desired.owner) && part.state !== 'deleting')
      .flatMap((part): readonly LoadBalancerAction[] => {
        if (!kind.members || !kind.update) return [];
        const members = defined(kind.members(desired, keyOf(part)));
        const changed = differences(kind, part, members);
        if (changed.length === 0) return [];
        complete = false;
        if (part.state === 'pending' && !kind.takesRequestsWhilePending) return [];
        const { key: _key, ...attributes } = part.attributes;
        return [updateOf(part, { attributes: { ...attributes, ...members } }, changed)];
      }),
  );
  return { actions, complete, ingress: [] };
}

/** One plan of a Service that is to have its parts. */
class Making {
  readonly #desired: DesiredLoadBalancer;
  readonly #own: readonly KeyedPart[];
  readonly #options: PlanOptions;
  /** They have to go: too many, failed, or to be made again. */
  readonly #doomed = new Set<KeyedPart>();
  /** Those of them whose users go with them. */
  readonly #remade = new Set<KeyedPart>();
  readonly #updated = new Set<KeyedPart>();
  readonly #actions: LoadBalancerAction[] = [];
  /** Kinds of which all that is wanted is there and ready. */
  readonly #settled = new Set<string>();
  #isWhole = true;

  constructor(desired: DesiredLoadBalancer, own: readonly KeyedPart[], options: PlanOptions) {
    this.#desired = desired;
    this.#own = own;
    this.#options = options;
  }

  plan(): LoadBalancerPlan {
    for (const kind of this.#options.kinds) this.#planKind(kind);
    const actions = [...this.#actions, ...removal([...this.#doomed], this.#own, [...this.#updated], this.#options)];
    const complete = this.#isWhole && actions.length === 0 && this.#own.every(({ state }) => state === 'ready');
    return { actions, complete, ingress: complete ? this.#options.ingress(this.#own, this.#desired) : [] };
  }

  #planKind(kind: PartKind): void {
    const there = this.#own.filter((part) => part.kind === kind.kind);
    for (const part of there) if (part.state === 'failed' || this.#usesRemade(part)) this.#remake(part);
    const wanted = kind.wanted(this.#desired, (name, key = '') => this.#ready(name, key));
    if (!wanted) {
      this.#isWhole = false;
      return;
    }
    const kept = new Set<KeyedPart>();
    let isSettled = true;
    for (const one of wanted) {
      const { key = '' } = one;
      const full = { ...one, attributes: defined({ ...one.attributes, ...kind.members?.(this.#desired, key) }) };
      const part = this.#choose(kind, full, there);
      if (part) kept.add(part);
      this.#planOne(kind, full, part, there);
      if (!part || !this.#isUsable(part)) isSettled = false;
    }
    if (isSettled) this.#settled.add(kind.kind);
    for (const part of there) if (!kept.has(part)) this.#doomed.add(part);
  }

  #planOne(kind: PartKind, wanted: WantedPart, part: KeyedPart | undefined, there: readonly KeyedPart[]): void {
    const { key = '' } = wanted;
    if (!part) {
      // What still has its name, or its place, goes first.
      const isFree = there.every((one) => keyOf(one) !== key);
      if (isFree && this.#hasNeeds(kind)) this.#actions.push(createOf(kind, wanted));
      this.#isWhole = false;
      return;
    }
    const changed = differences(kind, part, wanted.attributes);
    if (changed.length === 0) return;
    if (!kind.update || changed.some((name) => kind.fixed?.includes(name))) this.#remake(part);
    else if (takesRequests(kind, part)) {
      this.#actions.push(updateOf(part, wanted, changed));
      this.#updated.add(part);
    }
    this.#isWhole = false;
  }

  /** Of several with one key the one that is in use, and nearest to what is wanted; by its ID where all is equal. */
  #choose(kind: PartKind, wanted: WantedPart, there: readonly KeyedPart[]): KeyedPart | undefined {
    const rank = (part: KeyedPart): readonly (number | string)[] => [
      part.state === 'ready' ? 0 : 1,
      -this.#own.filter((other) => uses(this.#options, other, part)).length,
      differences(kind, part, wanted.attributes).length,
      part.id,
    ];
    return there
      .filter((part) => keyOf(part) === (wanted.key ?? '') && part.state !== 'deleting' && !this.#doomed.has(part))
      .map((part) => ({ part, by: rank(part) }))
      .toSorted((a, b) => compare(a.by, b.by))[0]?.part;
  }

  #ready(kind: string, key: string): KeyedPart | undefined {
    const isIt = (part: KeyedPart): boolean => part.kind === kind && (keyOf(part) === key || part.id === key);
    return this.#own.find((part) => isIt(part) && this.#isUsable(part));
  }

  #isUsable(part: KeyedPart): boolean {
    return takesRequests(kindOf(this.#options, part), part) && !this.#doomed.has(part);
  }

  #hasNeeds({ needs = [] }: PartKind): boolean {
    return needs.every((need) => this.#settled.has(need));
  }

  #usesRemade(part: KeyedPart): boolean {
    return [...this.#remade].some((other) => uses(this.#options, part, other));
  }

  #remake(part: KeyedPart): void {
    this.#doomed.add(part);
    this.#remade.add(part);
  }
}

/** Users before what they use. What is still used by a part that stays waits, unless that one is changed before it in this plan. */
function removal(
  doomed: readonly KeyedPart[],
  own: readonly KeyedPart[],
  updated: readonly KeyedPart[],
  options: PlanOptions,
): readonly LoadBalancerAction[] {
  const order = options.kinds.map(({ kind }) => kind);
  const goesBefore = (other: KeyedPart, part: KeyedPart): boolean =>
    doomed.includes(other) && needsOf(options, other.kind).has(part.kind);
  const going = doomed
    .filter((part) => part.state !== 'deleting')
    .filter((part) => {
      const others = own.filter((other) => other !== part);
      if (options.isAsync) return !others.some((other) => uses(options, other, part) || goesBefore(other, part));
      const users = others.filter((other) => uses(options, other, part));
      return users.every((other) => doomed.includes(other) || updated.includes(other));
    })
    .toSorted((a, b) => order.indexOf(b.kind) - order.indexOf(a.kind) || compare([a.id], [b.id]));
  const goesWith = (child: KeyedPart, part: KeyedPart): boolean =>
    kindOf(options, child).goesWith === part.kind && uses(options, child, part);
  const gone = own.filter(({ state }) => state === 'deleting');
  return going
    .filter((part) => ![...going, ...gone].some((parent) => goesWith(part, parent)))
    .map((part) => {
      const { id, kind } = part;
      const ends = going.filter((child) => goesWith(child, part)).map((child) => ({ kind: child.kind, id: child.id }));
      const summary = `delete the ${kind}`;
      return { kind: 'delete', part: kind, id, summary, input: {}, ...(ends.length > 0 && { ends }) };
    });
}

function takesRequests({ takesRequestsWhilePending = false }: PartKind, { state }: KeyedPart): boolean {
  return state === 'ready' || (state === 'pending' && takesRequestsWhilePending);
}

function kindOf({ kinds }: Pick<PlanOptions, 'kinds'>, part: LoadBalancerPart): PartKind {
  const found = kinds.find(({ kind }) => kind === part.kind);
  if (!found) throw new Error(`${part.kind} is no kind of part that was declared`);
  return found;
}

/** With what its needs need. */
function needsOf({ kinds }: Pick<PlanOptions, 'kinds'>, kind: string): ReadonlySet<string> {
  const all = new Set<string>();
  const add = (one: string): void => {
    for (const need of kinds.find((each) => each.kind === one)?.needs ?? []) {
      all.add(need);
      add(need);
    }
  };
  add(kind);
  return all;
}

/** What does not need the kind of the part may name it all the same: an address says which load balancer has it. */
export function uses(options: Pick<PlanOptions, 'kinds'>, other: LoadBalancerPart, part: LoadBalancerPart): boolean {
  const kind = kindOf(options, part);
  if (other === part) return false;
  if (kind.uses) return kind.uses(other, part);
  return needsOf(options, other.kind).has(part.kind) && holds(other.attributes, part.id);
}

function holds(value: unknown, id: string): boolean {
  if (value === id) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((one) => holds(one, id));
}

/** What is `undefined` is not asked for: a plan is JSON. */
function defined(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

function keyOf({ attributes }: KeyedPart): string {
  return attributes.key ?? '';
}

function differences(kind: PartKind, part: KeyedPart, wanted: Attributes): readonly string[] {
  return Object.keys(wanted).filter((name) => {
    const same = kind.compare?.[name] ?? isDeepStrictEqual;
    return !same(part.attributes[name], wanted[name]);
  });
}

function compare(a: readonly (number | string)[], b: readonly (number | string)[]): number {
  const at = a.findIndex((one, i) => one !== b[i]);
  const [one, other] = [a[at], b[at]];
  return one === undefined || other === undefined ? 0 : one < other ? -1 : 1;
}

function createOf({ kind }: PartKind, { attributes, key = '', touches }: WantedPart): LoadBalancerAction {
  const summary = `make the ${kind}${key === '' ? '' : ` ${key}`}`;
  return { kind: 'create', part: kind, summary, input: { key, attributes }, ...(touches && { touches }) };
}

function updateOf(
  part: KeyedPart,
  { attributes, touches }: WantedPart,
  changed: readonly string[],
): LoadBalancerAction {
  const { id, kind } = part;
  const summary = `change ${changed.join(', ')} of the ${kind}`;
  const input = { key: keyOf(part), attributes, changed };
  const mayCutTraffic = changed.some((name) => lacksOne(attributes[name], part.attributes[name]));
  return {
    kind: 'update',
    part: kind,
    id,
    summary,
    input,
    ...(touches && { touches }),
    ...(mayCutTraffic && { mayCutTraffic }),
  };
}

/** Of thousands of members, which many parts are to have: made once. */
const asSets = new WeakMap<readonly unknown[], ReadonlySet<unknown>>();

/** Of listeners, rules or members, one that is there is not wanted any more. */
function lacksOne(wanted: unknown, there: unknown): boolean {
  if (!Array.isArray(there) || !Array.isArray(wanted)) return false;
  // Thousands of members are texts.
  const same = asSets.get(wanted) ?? new Set<unknown>(wanted);
  asSets.set(wanted, same);
  const isWanted = (one: unknown): boolean =>
    same.has(one) || (typeof one === 'object' && wanted.some((other) => isDeepStrictEqual(one, other)));
  return !there.every(isWanted);
}

function claimOf({ id, kind }: LoadBalancerPart): LoadBalancerAction {
  return { kind: 'claim', part: kind, id, summary: `take over the ${kind} of a predecessor`, input: {} };
}

function unfinished(actions: readonly LoadBalancerAction[]): LoadBalancerPlan {
  return { actions, complete: false, ingress: [] };
}
