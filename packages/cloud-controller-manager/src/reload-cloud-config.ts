/** `--cloud-config`, read again while the program runs. */
import path from 'node:path';
import type { ConfigText } from '@outrigger/cloud-provider';
import type { OpenedProvider } from '@outrigger/cloud-runtime';
import { reloadFiles } from '@outrigger/controller-manager';
import type { Foundation } from './foundation.ts';

/** Hands changes to the provider until it is disposed of. `config`: what the provider was opened with. */
export function reloadCloudConfig(
  { clock, environment, logger, metrics }: Foundation,
  provider: OpenedProvider,
  config: ConfigText | undefined,
): Disposable {
  const stop = new AbortController();
  if (config !== undefined) {
    const { fileName } = config;
    void reloadFiles({
      name: 'cloud-config',
      paths: [path.resolve(environment.workingDirectory, fileName)],
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
