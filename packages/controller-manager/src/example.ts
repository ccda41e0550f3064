import { silentLogger, systemClock } from '@outrigger/kube';
import { exitCodeOf, FlagSet, PrometheusMetrics, runControllerManager, string, type FlagGroup } from './index.ts';

interface GreeterOptions {
  greeting: string;
}

const greeterFlags: FlagGroup<GreeterOptions> = {
  title: 'Greeter',
  flags: { greeting: { type: string, default: 'hi', usage: 'What is said to each node.' } },
};

export async function main(args: readonly string[], stop: AbortSignal): Promise<number> {
  const { greeting } = new FlagSet([greeterFlags]).parse(args).of(greeterFlags);
  const logger = silentLogger.with({ greeting });
  const greeter = {
    name: 'greeter',
    run: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        logger.info('Greeting');
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve());
      }),
  };
  const end = await runControllerManager({
    name: 'greeter-manager',
    clock: systemClock,
    logger,
    metrics: new PrometheusMetrics(),
    stop,
    lead: () => Promise.resolve({ controllers: [greeter], [Symbol.asyncDispose]: () => Promise.resolve() }),
  });
  return exitCodeOf(end);
}
