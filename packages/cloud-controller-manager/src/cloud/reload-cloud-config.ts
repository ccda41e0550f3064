/** `--cloud-config`, and the files that its provider wants to be watched, read again while the program runs. */
import path from 'node:path';
import type { ConfigText } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { reloadFiles } from '@outrigger/controller-manager';
import type { Foundation } from '../program/foundation.ts';

/** For each of several providers its own. */
export function reloadCloudConfigs(
  foundation: Foundation,
  providers: readonly OpenedProvider[],
  clouds: readonly { readonly config: ConfigText | undefined }[],
): Disposable {
  const owned = new DisposableStack();
  for (const [i, provider] of providers.entries()) {
    const name = providers.length === 1 ? 'cloud-config' : `cloud-config-${provider.name}`;
    owned.use(reloadCloudConfig(foundation, provider, clouds[i]?.config, name));
  }
  return owned;
}

/** Hands changes to the provider until it is disposed of. `config`: what the provider was opened with. */
export function reloadCloudConfig(
  { clock, environment, logger, metrics }: Foundation,
  provider: OpenedProvider,
  config: ConfigText | undefined,
  name = 'cloud-config',
): Disposable {
  const stop = new AbortController();
  if (config !== undefined) {
    const { fileName } = config;
    const absolute = (file: string): string => path.resolve(environment.workingDirectory, file);
    void reloadFiles({
      name,
      paths: [absolute(fileName)],
      also: () => provider.watchedFiles().map(absolute),
      current: [config.text],
      apply: ([text = '']) => provider.reconfigure({ fileName, text }),
      clock,
      logger,
      metrics,
      signal: stop.signal,
    });
  }
  return { [Symbol.dispose]: () => stop.abort() };
}
