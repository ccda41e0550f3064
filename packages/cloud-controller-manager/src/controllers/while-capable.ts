/** Providers may find out later what their cloud can do: a controller runs while, and only while, the provider has what it needs. */
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { whenAborted, type Logger } from '@outrigger/kube';

export interface WhileCapableOptions<C extends object> {
  readonly provider: Pick<OpenedProvider, 'onCapabilitiesChanged'>;
  /** What is needed, as it is now. Another object means: start anew with it. */
  readonly capability: () => C | undefined;
  /** For the log: `instances`. */
  readonly what: string;
  readonly logger: Logger;
  readonly build: (capability: C) => { run(signal: AbortSignal): Promise<void> };
}

/** Runs until the signal aborts, through as many lives of the controller as the capability has. */
export async function runWhileCapable<C extends object>(
  options: WhileCapableOptions<C>,
  signal: AbortSignal,
): Promise<void> {
  const { build, capability, logger, provider, what } = options;
  let changed = new AbortController();
  const stop = provider.onCapabilitiesChanged(() => changed.abort());
  try {
    while (!signal.aborted) {
      changed = new AbortController();
      const either = AbortSignal.any([signal, changed.signal]);
      const current = capability();
      if (current === undefined) {
        logger.info('Controller is waiting: the provider does not have the capabilities that it needs', {
          needs: what,
        });
        await whenAborted(either);
        continue;
      }
      await runOneLife(build(current), current, { ...options, signal, changed });
    }
  } finally {
    stop();
  }
}

async function runOneLife<C extends object>(
  controller: { run(signal: AbortSignal): Promise<void> },
  current: C,
  options: WhileCapableOptions<C> & { readonly signal: AbortSignal; readonly changed: AbortController },
): Promise<void> {
  const { capability, logger, provider, signal, what } = options;
  const gone = new AbortController();
  // Most changes are about other capabilities: this one goes on undisturbed then.
  const stop = provider.onCapabilitiesChanged(() => {
    if (capability() !== current) gone.abort();
  });
  try {
    await controller.run(AbortSignal.any([signal, gone.signal]));
  } finally {
    stop();
  }
  if (signal.aborted) return;
  if (!gone.signal.aborted) throw new Error('the controller ended unexpectedly');
  logger.info('Restarting the controller: the capabilities of the provider have changed', { needs: what });
}
