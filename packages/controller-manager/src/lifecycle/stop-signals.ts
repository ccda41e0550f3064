/** SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once. */
import type { Logger } from '@outrigger/kube';

/** `process`, as far as this needs it. */
export interface SignalSource {
  on(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
  off(signal: NodeJS.Signals, listener: (signal: NodeJS.Signals) => void): unknown;
}

export interface StopSignals extends Disposable {
  /** Aborts with the first signal. */
  readonly signal: AbortSignal;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];

/** `exitNow` must not return to the event loop: somebody has lost patience. */
export function watchStopSignals(source: SignalSource, logger: Logger, exitNow: () => void): StopSignals {
  const controller = new AbortController();
  const listener = (name: NodeJS.Signals): void => {
    if (controller.signal.aborted) {
      logger.error('Second signal: exiting at once', { signal: name });
      exitNow();
      return;
    }
    logger.info('Signal received: stopping', { signal: name });
    controller.abort(new DOMException(`stopped by ${name}`, 'AbortError'));
  };
  for (const name of SIGNALS) source.on(name, listener);
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of SIGNALS) source.off(name, listener);
    },
  };
}
