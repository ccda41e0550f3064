/** What is wrong with a provider's config, found out before anything is connected to. */
import { CloudError, isCloudError, type CloudProvider, type ConfigText } from '@outrigger/cloud-provider';

/** Throws the provider's own `CloudError`, or a `configuration` that says whose error it was. A provider need not check. */
export async function checkConfig(provider: CloudProvider, config: ConfigText | undefined): Promise<void> {
  try {
    await provider.checkConfig?.(config);
  } catch (error) {
    if (isCloudError(error)) throw error;
    // Nobody wrote this message for an operator: it must at least say whose it is.
    const message = error instanceof Error ? error.message : String(error);
    const what = `checking the config of the provider ${provider.name}`;
    throw new CloudError('configuration', `${what} failed: ${message}`, { cause: error });
  }
}
