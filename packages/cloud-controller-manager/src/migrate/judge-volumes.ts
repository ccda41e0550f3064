/** Volumes of in-tree clouds: Kubernetes hands them to the CSI driver, which must be there. Pure. */
import type { CSINode, PersistentVolume } from '@outrigger/kube';
import { missing, ok, unknown, type Check } from './check.ts';
import type { Seen } from './observed-cluster.ts';

/** Source of a PersistentVolume → the driver to which it is translated. Source: `csi-translation-lib`. */
const DRIVERS: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
};

export function judgeVolumes({ csiNodes, nodes, volumes }: Seen<'csiNodes' | 'nodes' | 'volumes'>): readonly Check[] {
  if (!volumes.known) {
    return [
      unknown(`PersistentVolumes could not be listed: ${volumes.why}`, 'use a user who may list PersistentVolumes'),
    ];
  }
  const used = Object.entries(DRIVERS)
    .map(([source, driver]) => ({ source, driver, volumes: volumes.value.filter((one) => hasSource(one, source)) }))
    .filter((one) => one.volumes.length > 0);
  if (used.length === 0)
    return [ok(`none of the ${volumes.value.length} PersistentVolumes has an in-tree source of a cloud`)];
  return used.map(({ driver, source, volumes }): Check => {
    const have = `${volumes.length} PersistentVolumes have the source ${source}`;
    if (!csiNodes.known) {
      return unknown(
        `${have}, and CSINodes could not be listed: ${csiNodes.why}`,
        `make sure that ${driver} runs on all nodes: kubectl get csinodes`,
      );
    }
    if (!nodes.known)
      return unknown(`${have}, and nodes could not be listed: ${nodes.why}`, 'use a user who may list nodes');
    const having = new Set(
      csiNodes.value.filter((node) => hasDriver(node, driver)).map(({ metadata }) => metadata?.name),
    );
    const without = nodes.value.map(({ metadata }) => metadata?.name ?? '').filter((name) => !having.has(name));
    if (without.length === 0) return ok(`${have}; ${driver} is on all ${nodes.value.length} nodes`);
    const text = `${have}, and ${driver} is not on ${without.length} of ${nodes.value.length} nodes`;
    return missing(text, 'install the CSI driver of the cloud: only it attaches and mounts them', without);
  });
}

function hasSource({ spec }: PersistentVolume, source: string): boolean {
  return spec !== undefined && (spec as Readonly<Record<string, unknown>>)[source] !== undefined;
}

function hasDriver({ spec }: CSINode, driver: string): boolean {
  return spec?.drivers?.some(({ name }) => name === driver) ?? false;
}
