/** What keystone has to grant: ../docs/instances.md and ../docs/routes.md say how it was tried. */
import type { CloudPermissions } from '@outrigger/cloud-provider';

export const permissions: CloudPermissions = {
  instances: ['role reader in the project'],
  loadBalancers: ['roles member and load-balancer_member in the project'],
  routes: ['role member in the project of the router and the ports'],
  volumes: ['role member in the project'],
};
