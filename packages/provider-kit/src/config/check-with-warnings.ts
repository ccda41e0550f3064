/** For a provider's `checkConfig`, where no host is there yet that would be warned. */
import { CloudError, isCloudError } from '@outrigger/cloud-provider';

/**
 * Reads the config; what it throws, a `CloudError`, says the warnings too: one of them may be the reason, such as a misspelt key beside a key
 * that is missing. Warnings of a config that is taken are left to `open`.
 */
export async function checkWithWarnings(read: (warn: (message: string) => void) => Promise<unknown>): Promise<void> {
  const warnings: string[] = [];
  try {
    await read((warning) => void warnings.push(warning));
  } catch (error) {
    if (!isCloudError(error) || warnings.length === 0) throw error;
    throw new CloudError(error.code, [error.message, ...warnings].join('; '), { cause: error });
  }
}
