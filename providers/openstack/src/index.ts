/** OpenStack. See ../README.md. */
import type { ProviderFactory } from '@outrigger/cloud-provider';
import { createOpenStackProvider } from './openstack-provider.ts';

const factory: ProviderFactory = (options) => createOpenStackProvider(options);
export default factory;

export { createOpenStackProvider, type OpenStackProviderOptions } from './openstack-provider.ts';
