/** The error that ends the retries of a key: not until something changes. */

/** Known by this symbol and not by class: a provider may bring its own copy of this package. */
const BRAND = Symbol.for('outrigger.kube.TerminalError');

/** How many causes deep an error is looked into; a chain of causes may be a circle. */
const MAX_DEPTH = 16;

/**
 * Thrown by a reconciler when trying again cannot help, for example for a Service whose annotation does not parse. The
 * key is logged, counted and left alone until it is added anew. controller-runtime's `reconcile.TerminalError`.
 */
export class TerminalError extends Error {
  readonly code: string = 'terminal';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'TerminalError';
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether the error, or one that it was caused by, is a `TerminalError`: an error wrapped for context means the same. */
export function isTerminalError(error: unknown): boolean {
  for (let at = error, depth = 0; typeof at === 'object' && at !== null && depth < MAX_DEPTH; depth++) {
    if (Reflect.get(at, BRAND) === true) return true;
    at = (at as { cause?: unknown }).cause;
  }
  return false;
}
