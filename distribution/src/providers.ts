/** The providers that are built in: name for `--cloud-provider` → lazy import. A fork that ships others replaces this file. */
export const providers: Readonly<Record<string, () => Promise<unknown>>> = {
  aws: () => import('@outrigger/provider-aws'),
  memory: () => import('./memory-provider.ts'),
  openstack: () => import('@outrigger/provider-openstack'),
  vsphere: () => import('@outrigger/provider-vsphere'),
};
