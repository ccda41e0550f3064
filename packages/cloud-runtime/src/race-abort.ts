/** Ends a wait at the abort, for code that may not look at its signal. */

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as it aborts; what `work` does later is dropped. A plain
 * value is taken too: a provider in JavaScript may forget `async`.
 */
export function raceAbort<T>(work: T | PromiseLike<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    // The listener goes in any case: a signal may live as long as the program.
    void Promise.resolve(work)
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort));
  });
}
