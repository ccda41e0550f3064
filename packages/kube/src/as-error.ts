/** What was thrown, which may be anything, as an error to be logged: itself, if it is one. Providers have one from the contract. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(`not an Error was thrown: ${String(thrown)}`);
}
