/** SIGTERM and SIGINT: the first asks for a clean stop, the second ends the process at once. SIGUSR1 does nothing. */
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

/**
 * Node opens its inspector on SIGUSR1, through which any local user runs code in this process and reads its credentials. A listener
 * takes the signal from Node. `--disable-sigusr1` in the launcher covers the time before; this covers programs that are started without.
 */
const INSPECTOR: NodeJS.Signals = 'SIGUSR1';

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
  // It stays when the others go: without a listener the signal would end the process.
  source.on(INSPECTOR, () => logger.warn('Signal ignored: no inspector is opened', { signal: INSPECTOR }));
  return {
    signal: controller.signal,
    [Symbol.dispose]: () => {
      for (const name of SIGNALS) source.off(name, listener);
    },
  };
}
