/** What vCenter has to grant: the privileges of its role Read-only. */
import type { CloudPermissions } from '@outrigger/cloud-provider';

export const permissions: CloudPermissions = {
  instances: [
    'System.Anonymous, System.Read and System.View (the role Read-only) on the root folder of each vCenter, propagated to its children',
  ],
};
