import { createOpenStackProvider } from './index.ts';
import type { CloudProvider } from '@outrigger/cloud-provider';

/** A second OpenStack in one cluster: the provider IDs of its nodes begin with `north://`. */
export function createNorth(): CloudProvider {
  return createOpenStackProvider({
    name: 'north',
    environment: { env: { OS_CCM_REGIONAL: 'true' }, workingDirectory: '/', homeDirectory: '/root' },
  });
}
