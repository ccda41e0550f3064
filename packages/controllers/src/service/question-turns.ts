/** Which of those that wait are asked about next. Pure. Entry point: `turnsOf`. */

/**
 * A question with so many Services of one tenant is not waited for by others, nor one that is full of them. Fewer are: a question may list all
 * that a project has, and two in place of one are twice that.
 */
const MANY_OF_ONE = 10;
/** Tenants that are asked about apart, at a time. Beside them there is room for one question of all the others. */
const MOST_APART = 2;

/** In flight. */
export interface Asked {
  /** The keys of each tenant. */
  readonly tenants: ReadonlyMap<string, readonly string[]>;
  readonly isApart: boolean;
}

export interface Waiting {
  /** The keys of each tenant. */
  readonly waiting: ReadonlyMap<string, readonly string[]>;
  readonly inFlight: readonly Asked[];
  /** A question takes so many. */
  readonly batchSize: number;
  /** Questions of those that are asked about together, at a time. */
  readonly mostTogether: number;
  /** Those that are asked about together wait for a question of few. */
  readonly waitsForFew: boolean;
  /** It asks on and on: it is asked about apart. */
  readonly isBusy: (tenant: string) => boolean;
  /** Its last question has just been answered: fewer than many of it wait for more to come. */
  readonly isResting: (tenant: string) => boolean;
}

/** What the next question may be about. */
export interface Turn {
  readonly keys: readonly string[];
  /** It has one tenant, who asks on and on: the others do not wait for it, nor it for them. */
  readonly isApart: boolean;
}

/** Best first. */
export function turnsOf(given: Waiting): readonly Turn[] {
  const { batchSize, inFlight, isBusy, isResting, waiting } = given;
  const many = Math.min(MANY_OF_ONE, batchSize);
  const asked = Map.groupBy(
    inFlight.flatMap(({ tenants }) => [...tenants]),
    ([tenant]) => tenant,
  );
  /** One question of a tenant is in flight at a time; where many wait, a second one beside one of few. */
  const mayAsk = ([tenant, keys]: readonly [string, readonly string[]]): boolean => {
    const [first, ...others] = asked.get(tenant) ?? [];
    if (!first) return true;
    // The second may be of few too: some of those that waited may be gone by the time of their question.
    return others.length === 0 && first[1].length < many && keys.length >= many && isBusy(tenant);
  };
  const free = [...waiting].filter(mayAsk);
  // Where more wait than one question takes, fewer questions are better for all.
  const isMore = free.reduce((sum, [, keys]) => sum + keys.length, 0) > batchSize;
  const { apart = [], together = [] } = Object.groupBy(free, ([tenant]) =>
    !isMore && isBusy(tenant) ? 'apart' : 'together',
  );
  const known = new Set(inFlight.flatMap(({ isApart, tenants }) => (isApart ? [...tenants.keys()] : [])));
  return [
    ...(hasRoom(given, many) ? [{ keys: together.flatMap(([, keys]) => keys), isApart: false }] : []),
    ...apart
      .filter(([tenant, keys]) => keys.length >= many || !isResting(tenant))
      .filter(([tenant]) => known.size < MOST_APART || known.has(tenant))
      .map(([, keys]) => ({ keys, isApart: true })),
  ];
}

/** For one of those that are asked about together. */
function hasRoom({ inFlight, mostTogether, waitsForFew }: Waiting, many: number): boolean {
  const together = inFlight.filter(({ isApart }) => !isApart);
  if (together.length >= mostTogether) return false;
  return !waitsForFew || together.every(({ tenants }) => tenants.values().some(({ length }) => length >= many));
}
