/** What a node must look like when all is done. Pure. */
import type { Node } from '@outrigger/kube';
import { UNINITIALIZED_TAINT } from '@outrigger/testing';

/** A machine of the cloud, and the kubelet on it. */
export interface Machine {
  readonly name: string;
  /** The kubelet's `--node-ip`. */
  readonly ip: string;
  readonly externalIp: string;
  readonly providerID: string;
  readonly zone: string;
  readonly region: string;
  readonly type: string;
}

export function isInitialised(node: Node): boolean {
  return node.spec?.taints?.every(({ key }) => key !== UNINITIALIZED_TAINT) ?? true;
}

/** What is wrong with an initialised node; empty when nothing is. */
export function faultsOfNode(node: Node, machine: Machine): readonly string[] {
  const { annotations = {}, labels = {}, name = '' } = node.metadata ?? {};
  const { conditions = [] } = node.status ?? {};
  const wrong: string[] = [];
  const expect = (what: string, actual: unknown, expected: unknown): void => {
    if (actual !== expected) wrong.push(`${name}: ${what} is ${String(actual)}, not ${String(expected)}`);
  };

  expect('initialised', isInitialised(node), true);
  expect('provider ID', node.spec?.providerID, machine.providerID);
  for (const key of ['topology.kubernetes.io/zone', 'failure-domain.beta.kubernetes.io/zone'])
    expect(key, labels[key], machine.zone);
  for (const key of ['topology.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/region'])
    expect(key, labels[key], machine.region);
  for (const key of ['node.kubernetes.io/instance-type', 'beta.kubernetes.io/instance-type'])
    expect(key, labels[key], machine.type);
  const addresses = node.status?.addresses?.map(({ address, type }) => `${type} ${address}`).sort();
  const { externalIp, ip } = machine;
  expect('addresses', addresses?.join(', '), `ExternalIP ${externalIp}, Hostname ${machine.name}, InternalIP ${ip}`);

  // The kubelet's own.
  expect('kubernetes.io/hostname', labels['kubernetes.io/hostname'], machine.name);
  expect('kubernetes.io/arch', labels['kubernetes.io/arch'], 'amd64');
  expect('provided-node-ip', annotations['alpha.kubernetes.io/provided-node-ip'], machine.ip);
  expect('images', node.status?.images?.length, 42);
  for (const type of ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready']) {
    const condition = conditions.find((candidate) => candidate.type === type);
    expect(type, condition?.status, type === 'Ready' ? 'True' : 'False');
  }
  return wrong;
}
