/** Errors that nobody waits for: a timer of a provider that throws, a promise of its that is rejected unseen. */
import type { Logger } from '@outrigger/kube';

/** `process`, as far as this needs it. */
export interface FaultSource {
  on(event: 'uncaughtException', listener: (error: unknown) => void): unknown;
  off(event: 'uncaughtException', listener: (error: unknown) => void): unknown;
}

/**
 * After such an error nothing is known of the state of the program, so it ends at once; the Lease runs out by itself.
 * Node would print the error and the source line around it as they are: past the log's format, and past its redaction.
 * `exitNow` must not return to the event loop.
 */
export function watchFaults(source: FaultSource | undefined, logger: Logger, exitNow: () => void): Disposable {
  const listener = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    logger.error('Uncaught error: exiting; the stack says where it was thrown', { error, stack });
    exitNow();
  };
  source?.on('uncaughtException', listener);
  return { [Symbol.dispose]: () => void source?.off('uncaughtException', listener) };
}
