/** The memory cloud as the cluster suite's fixture: machines that no kubelet runs on, and looks at what the manager has made. */
import type { ClusterFixture, ClusterMachine } from '@outrigger/conformance';
import type { MemoryCloud, MemoryPart } from '@outrigger/provider-memory';

/** With every hook: nothing is unverifiable for want of one. */
export type FullFixture = Required<Omit<ClusterFixture, 'nodesFrom' | typeof Symbol.asyncDispose>>;

export function memoryClusterFixture(cloud: MemoryCloud): FullFixture {
  let made = 0;
  return {
    makeMachine: (name) => {
      made++;
      const instance = cloud.createInstance({
        name,
        addresses: [
          { type: 'InternalIP', address: `10.128.0.${made}` },
          { type: 'InternalIP', address: `fd00::${made}` },
          { type: 'Hostname', address: name },
        ],
      });
      return Promise.resolve({
        nodeName: name,
        providerID: instance.providerID,
        addresses: instance.addresses,
        labels: {
          'topology.kubernetes.io/zone': instance.zone,
          'topology.kubernetes.io/region': instance.region,
          'node.kubernetes.io/instance-type': instance.type,
        },
        podCIDRs: [`10.64.${made}.0/24`],
      });
    },
    deleteMachine: async ({ nodeName }) => void cloud.deleteInstance(nodeName),
    stopMachine: async ({ nodeName }) => void cloud.updateInstance(nodeName, { state: 'shutdown' }),
    startMachine: async ({ nodeName }) => void cloud.updateInstance(nodeName, { state: 'running' }),
    failCloud: () => {
      cloud.setFaults([{ effect: 'status', status: 500 }]);
      return Promise.resolve({
        [Symbol.asyncDispose]: async () => cloud.setFaults([]),
      });
    },
    loadBalancers: ({ uid }) => Promise.resolve(partsOf(cloud, uid).map(({ id }) => id)),
    backEnds: ({ uid }) => {
      const ids = new Set(partsOf(cloud, uid).flatMap(({ attributes }) => (attributes['backEnds'] ?? []) as string[]));
      const instances = cloud.instances().filter(({ providerID }) => ids.has(providerID));
      return Promise.resolve(instances.map(({ name }) => name));
    },
    routes: ({ nodeName }: ClusterMachine) =>
      Promise.resolve(
        cloud
          .routes()
          .filter((route) => route.nodeName === nodeName)
          .map(({ destination }) => destination),
      ),
  };
}

function partsOf(cloud: MemoryCloud, uid: string): readonly MemoryPart[] {
  return cloud.parts().filter(({ tags }) => tags['uid'] === uid);
}
