/** A vCenter in memory as a fixture of the conformance suite. */
import { createHash } from 'node:crypto';
import { CloudError, errorCodeOfStatus, type CloudProvider, type NodeRef } from '@outrigger/cloud-provider';
import type { CloudFailure, ProviderFixture } from '@outrigger/conformance';
import { FakeClock } from '@outrigger/testing';
import { MemoryVcenter } from '../fake/memory-vcenter.ts';
import { machine, nic } from './instances/machine.suite.ts';
import { createVsphereProvider } from './vsphere-provider.ts';

export interface VsphereFixture extends ProviderFixture {
  readonly provider: () => CloudProvider;
}

const NOWHERE = { env: {}, workingDirectory: '/nowhere' };
const CONFIG = `vcenter:
  a: { server: a, user: u, password: p }
  b: { server: b, user: u, password: p }
labels: { zone: k8s-zone, region: k8s-region }
`;

function uuidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join('-');
}

/** Machines are in one of two vCenters by turns. */
export async function vsphereFixture(): Promise<VsphereFixture> {
  const vcenters = [
    new MemoryVcenter('a', 'aaaaaaaa-0000-4000-8000-000000000001'),
    new MemoryVcenter('b', 'bbbbbbbb-0000-4000-8000-000000000002'),
  ] as const;
  let made = 0;
  for (const { attached, objects } of vcenters) {
    objects.set('host-1', { type: 'HostSystem', reference: 'host-1', name: 'esx-1' });
    attached.set('host-1', [
      { category: 'k8s-zone', name: 'zone-1' },
      { category: 'k8s-region', name: 'region-1' },
    ]);
  }
  const all = (): readonly (readonly [MemoryVcenter, string])[] =>
    vcenters.flatMap((vcenter) => [...vcenter.inventory.keys()].map((reference) => [vcenter, reference] as const));
  const find = ({ name }: NodeRef): readonly [MemoryVcenter, string] => {
    const found = all().find(([{ inventory }, reference]) => inventory.get(reference)?.guestHostName === name);
    if (!found) throw new Error(`there is no machine of the node ${name}`);
    return found;
  };
  return {
    clock: new FakeClock(),
    config: { fileName: 'vsphere.yaml', text: CONFIG },
    provider: () =>
      createVsphereProvider({
        environment: NOWHERE,
        open: ({ server }) => vcenters[server === 'a' ? 0 : 1],
      }),
    createMachine: async (name) => {
      const vcenter = vcenters[made++ % 2] ?? vcenters[0];
      const nics = [nic('VM Network', `10.0.${made >> 8}.${made & 255}`)];
      vcenter.put(machine({ reference: `vm-${made}`, name, biosUuid: uuidOf(name), guestHostName: name, nics }));
      return { name, uid: `uid-${name}`, labels: {}, annotations: {} };
    },
    stopMachine: async (node) => {
      const [vcenter, reference] = find(node);
      const there = vcenter.inventory.get(reference);
      if (there) vcenter.put({ ...there, powerState: 'poweredOff' });
    },
    deleteMachine: async (node) => {
      const [vcenter, reference] = find(node);
      vcenter.inventory.delete(reference);
      vcenter.change({ reference, kind: 'leave' });
    },
    listMachines: async () => all().map(([{ inventory }, reference]) => inventory.get(reference)?.guestHostName ?? ''),
    setMaintenance: async (node, state) => {
      const [vcenter, reference] = find(node);
      const there = vcenter.inventory.get(reference);
      // On a host of its own, in the same cluster.
      const host = `host of ${reference}`;
      if (there) vcenter.put({ ...there, host });
      vcenter.objects.set(host, {
        type: 'HostSystem',
        reference: host,
        name: 'esx-2',
        maintenance: state && (state === 'planned' ? 'entering' : 'entered'),
      });
      vcenter.attached.set(host, vcenter.attached.get('host-1') ?? []);
    },
    fail: async (how) => {
      for (const vcenter of vcenters) {
        vcenter.isEmpty = how?.kind === 'empty';
        vcenter.fault = faultOf(how);
      }
    },
    requests: async () => vcenters.reduce((sum, { requests }) => sum + requests.length, 0),
    // Machines with what is around them, and its tags, of each vCenter.
    requestsOf: { lookUp: 4 },
    [Symbol.asyncDispose]: async () => {},
  };
}

function faultOf(how: CloudFailure | undefined): (() => Error) | undefined {
  if (how?.kind !== 'status') return undefined;
  const { retryAfterSeconds, status } = how;
  const more = retryAfterSeconds === undefined ? {} : { retryAfterMs: retryAfterSeconds * 1_000 };
  return () => new CloudError(errorCodeOfStatus(status), `answered with the status ${status}`, more);
}
