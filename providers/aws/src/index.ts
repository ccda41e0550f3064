/** AWS. See ../README.md. */
import type { ProviderFactory } from '@outrigger/cloud-provider';
import { createAwsProvider } from './aws-provider.ts';

const factory: ProviderFactory = (options) => createAwsProvider(options);
export default factory;

export { createAwsProvider, type AwsProviderOptions } from './aws-provider.ts';
