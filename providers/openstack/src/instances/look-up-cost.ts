/** What is cheaper: to ask for each thing, or to list all that the project has. Pure arithmetic. */

/**
 * One thing in a list weighs a hundredth of a request: a page of 1,000 takes a service about as long as ten single answers, most
 * of which is reading and encoding. A choice, not a measurement; it only has to be right in its order of magnitude.
 */
const ITEM = 0.01;

/** Requests, and what is read with them. */
export interface Cost {
  readonly requests: number;
  readonly items: number;
}

/** All that the project has, in pages. A last page that is full is followed by an empty one. */
export function listCost(items: number, pageSize: number): Cost {
  return { requests: Math.floor(items / pageSize) + 1, items };
}

/** Asked for by ID, up to `chunkSize` in a request. */
export function chunkCost(items: number, chunkSize: number): Cost {
  return { requests: Math.ceil(items / chunkSize), items };
}

export function isCheaper(one: Cost, other: Cost): boolean {
  return weight(one) < weight(other);
}

function weight({ requests, items }: Cost): number {
  return requests + items * ITEM;
}
