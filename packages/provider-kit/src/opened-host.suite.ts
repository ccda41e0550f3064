/** The host as a provider gets it from the real runtime: budget, retries, redaction, effects. */
import type { ProviderHost } from '@outrigger/cloud-provider';
import { openProvider, type OpenedProvider, type OpenProviderOptions } from '@outrigger/cloud-runtime';
import { silentLogger, type Clock } from '@outrigger/kube';

export interface OpenedHost extends AsyncDisposable {
  readonly host: ProviderHost;
  readonly opened: OpenedProvider;
}

/** Of a provider without capabilities. */
export async function openedHost(clock: Clock, options: Partial<OpenProviderOptions> = {}): Promise<OpenedHost> {
  let host: ProviderHost | undefined;
  const opened = await openProvider(
    {
      name: 'kit',
      open: async (given) => {
        host = given;
        return {};
      },
      close: async () => {},
    },
    { cluster: { id: 'cluster-1', name: 'test' }, clock, logger: silentLogger, random: () => 0, ...options },
  );
  if (!host) throw new Error('the provider was not opened');
  return { host, opened, [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() };
}
