/**
 * Records what the official provider makes of nodes, on the simulator and a real control plane:
 *
 *     node providers/vsphere/lab/record-goldens.ts
 *
 * writes golden/nodes.json. It takes four minutes, and four more where the official provider has to be built first.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { resources, systemClock, type Client, type Node } from '@outrigger/kube';
import {
  clientOf,
  freePort,
  hollowNode,
  ProcessGroup,
  startControlPlane,
  UNINITIALIZED_TAINT,
} from '@outrigger/testing';
import type { AttachedTag } from '../src/inventory/vcenter.ts';
import { buildOfficial } from './build.ts';
import { GOLDEN_GROUPS, type GoldenCase } from './golden-cases.ts';
import { GOLDEN_FILE, type GoldenEntry, type GoldenNode, type GoldenTable } from './golden.ts';
import { LabVcenter, type LabGuest, type LabMachine, type LabObject } from './lab.ts';

/** Nothing has changed for so long: what is not initialised now is refused. */
const SETTLED_MS = 12_000;
const CLOUD_LABELS = [
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
];

interface Prepared {
  readonly name: string;
  readonly machine: LabMachine;
  readonly golden: Pick<GoldenCase, 'guest' | 'hardware' | 'systemUuid'>;
}

/** As the simulator makes them, where a case says nothing. */
const HARDWARE = { cpus: 1, memoryMB: 32, guestId: 'otherGuest' };

function isInitialised(node: Node): boolean {
  return !node.spec?.taints?.some(({ key }) => key === UNINITIALIZED_TAINT);
}

function goldenNode(node: Node): GoldenNode {
  const labels = node.metadata?.labels ?? {};
  return {
    initialised: isInitialised(node),
    ...(node.spec?.providerID !== undefined && { providerId: node.spec.providerID }),
    addresses: (node.status?.addresses ?? []).map(({ address, type }) => ({ type, address })),
    labels: Object.fromEntries(CLOUD_LABELS.flatMap((key) => (labels[key] === undefined ? [] : [[key, labels[key]]]))),
  };
}

function entryOf({ golden, machine, name }: Prepared, node: Node): GoldenEntry {
  const { guest, hardware = {} } = golden;
  const { cpus, guestId, memoryMB } = { ...HARDWARE, ...hardware };
  return {
    name,
    systemUuid: node.status?.nodeInfo?.systemUUID ?? '',
    machine: {
      reference: machine.reference,
      name: machine.name,
      biosUuid: machine.biosUuid,
      isTemplate: false,
      connectionState: 'connected',
      powerState: 'poweredOn',
      guestId,
      ...(guest.hostName !== '' && { guestHostName: guest.hostName }),
      nics: guest.nics.map(({ addresses, deviceConfigId = 4000, network }) => ({
        network,
        deviceConfigId,
        addresses: addresses.map(({ address }) => address),
      })),
      cpus,
      memoryMB,
      host: machine.host,
      resourcePool: machine.pool,
      parent: machine.parent,
      guestInfo: hardware.extraConfig ?? {},
    },
    node: goldenNode(node),
  };
}

/** The official provider looks a node up by the name that the guest says of itself. */
function nodeName(machine: string, guest: LabGuest): string {
  return guest.hostName === '' ? machine : guest.hostName.toLowerCase();
}

class Recorder {
  readonly #client: Client;
  readonly #group: ProcessGroup;
  readonly #official: string;
  readonly #kubeconfig: string;
  readonly #directory: string;

  constructor(client: Client, group: ProcessGroup, official: string, kubeconfig: string, directory: string) {
    this.#client = client;
    this.#group = group;
    this.#official = official;
    this.#kubeconfig = kubeconfig;
    this.#directory = directory;
  }

  /** Nodes of these machines, after the official provider has had its time with them. */
  async record(
    name: string,
    vcenter: LabVcenter,
    config: string,
    prepared: readonly Prepared[],
  ): Promise<GoldenEntry[]> {
    const nodes = this.#client.of(resources.nodes);
    const file = join(this.#directory, 'vsphere.conf');
    await writeFile(file, config);
    for (const { golden, machine } of prepared) {
      await vcenter.setGuest(machine.reference, golden.guest);
      if (golden.hardware) await vcenter.setHardware(machine.reference, golden.hardware);
      const { biosUuid } = machine;
      const systemUUID = golden.systemUuid?.(biosUuid) ?? biosUuid;
      await nodes.create(hollowNode({ name: nodeName(machine.name, golden.guest), images: 0, systemUUID }));
    }
    const program = await this.#group.start({
      name: `official ${name}`,
      command: '/usr/bin/env',
      args: [
        'ENABLE_ALPHA_DUAL_STACK=1',
        this.#official,
        '--cloud-provider=vsphere',
        `--cloud-config=${file}`,
        `--kubeconfig=${this.#kubeconfig}`,
        '--leader-elect=false',
        '--bind-address=127.0.0.1',
        `--secure-port=${await freePort()}`,
        '--concurrent-node-syncs=4',
      ],
      log: join(this.#directory, 'official.log'),
    });
    let listed: readonly Node[] = [];
    let last = '';
    let since = systemClock.monotonic();
    for (;;) {
      listed = (await nodes.list()).items;
      const now = JSON.stringify(listed.map(goldenNode));
      if (now !== last) since = systemClock.monotonic();
      last = now;
      if (listed.every(isInitialised) || systemClock.monotonic() - since > SETTLED_MS) break;
      await systemClock.sleep(200);
    }
    // What is set after the taint has gone: addresses.
    await systemClock.sleep(1_000);
    listed = (await nodes.list()).items;
    program.signal('SIGKILL');
    await program.exited();
    for (const { metadata } of listed) await nodes.delete({ name: metadata?.name ?? '' });
    process.stderr.write(`${name}: ${listed.filter(isInitialised).length} of ${listed.length} nodes initialised\n`);
    return prepared.map((one) => {
      const node = listed.find(({ metadata }) => metadata?.name === nodeName(one.machine.name, one.golden.guest));
      if (!node) throw new Error(`${name}: the node of ${one.name} has gone`);
      return entryOf(one, node);
    });
  }
}

/** Tags by what they are attached to. */
type Tagged = Map<LabObject['reference'], AttachedTag[]>;

/** Machines of four datacenters, and tags around each in another way. */
async function prepareZones(vcenter: LabVcenter): Promise<{ prepared: readonly Prepared[]; tags: Tagged }> {
  const objects = await vcenter.objects();
  const machines = await vcenter.machines();
  const tags: Tagged = new Map();
  const object = (name: string, type?: LabObject['type']): LabObject => {
    const found = objects.find((one) => one.name === name && (type === undefined || one.type === type));
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  };
  const tag = async (of: Pick<LabObject, 'type' | 'reference'>, category: string, name: string): Promise<void> => {
    await vcenter.tag(of, category, name);
    tags.set(of.reference, [...(tags.get(of.reference) ?? []), { category, name }]);
  };
  const zone = (of: Pick<LabObject, 'type' | 'reference'>, name: string): Promise<void> => tag(of, 'k8s-zone', name);
  const region = (of: Pick<LabObject, 'type' | 'reference'>, name: string): Promise<void> =>
    tag(of, 'k8s-region', name);
  const taken = new Set<string>();
  const on = (cluster: string): LabMachine => {
    const hosts = objects.filter(({ parent }) => parent === object(cluster, 'ClusterComputeResource').reference);
    const found = machines.find(
      ({ host, reference }) => !taken.has(reference) && hosts.some((one) => one.reference === host),
    );
    if (!found) throw new Error(`there is no machine left on ${cluster}`);
    taken.add(found.reference);
    return found;
  };
  const itself = ({ reference }: LabMachine): Pick<LabObject, 'type' | 'reference'> => ({
    type: 'VirtualMachine',
    reference,
  });
  const hostOf = ({ host }: LabMachine): Pick<LabObject, 'type' | 'reference'> => ({
    type: 'HostSystem',
    reference: host,
  });
  const prepared: Prepared[] = [];
  const add = (name: string, machine: LabMachine): void => {
    const address = machine.address;
    const nics = [{ network: 'nodes', addresses: [{ address, prefixLength: 24 }] }];
    prepared.push({ name, machine, golden: { guest: { hostName: machine.name, ipAddress: address, nics } } });
  };

  const ofHost = on('DC0_C0');
  await zone(hostOf(ofHost), 'z-host');
  await region(hostOf(ofHost), 'r-host');
  add('tags of the host', ofHost);
  await zone(object('DC0_C1', 'ClusterComputeResource'), 'z-cluster');
  await region(object('DC0_C1', 'ClusterComputeResource'), 'r-cluster');
  add('tags of the cluster', on('DC0_C1'));
  await region(object('DC1', 'Datacenter'), 'r-datacenter');
  const mixed = on('DC1_C0');
  await zone(hostOf(mixed), 'z-near');
  add('zone of the host, region of the datacenter', mixed);
  const twice = on('DC1_C1');
  await zone(hostOf(twice), 'z-nearer');
  await zone(object('DC1_C1', 'ClusterComputeResource'), 'z-farther');
  add('zones of host and cluster, region of the datacenter', twice);
  const pooled = on('DC2_C0');
  await zone({ type: 'ResourcePool', reference: pooled.pool }, 'z-pool');
  await region({ type: 'ResourcePool', reference: pooled.pool }, 'r-pool');
  add('tags of the resource pool', pooled);
  const inFolder = on('DC2_C1');
  const folder = await vcenter.moveToFolder(inFolder.reference, 'tagged');
  await zone({ type: 'Folder', reference: folder }, 'z-folder');
  await region({ type: 'Folder', reference: folder }, 'r-folder');
  add('tags of the folder of machines', { ...inFolder, parent: folder });
  const tagged = on('DC2_C1');
  await zone(itself(tagged), 'z-machine');
  await region(itself(tagged), 'r-machine');
  add('tags of the machine itself', tagged);
  const half = on('DC2_C1');
  await zone(itself(half), 'z-alone');
  add('a zone without a region', half);
  add('no tags', on('DC2_C1'));
  await zone(object('F0', 'Folder'), 'z-above');
  await region(object('F0', 'Folder'), 'r-above');
  add('tags of the folder of the datacenter', on('DC3_C0'));
  return { prepared, tags };
}

const LABELS = '[Labels]\nzone = "k8s-zone"\nregion = "k8s-region"\n';

/** What is the same in each run. */
function withoutAddress(config: string, { port }: LabVcenter): string {
  return config.replace(`"${port}"`, '"443"');
}

const official = await buildOfficial();
await using controlPlane = await startControlPlane({ auditLog: false });
await using group = new ProcessGroup();
await using client = await clientOf(controlPlane.kubeconfig.path);
const recorder = new Recorder(client, group, official, controlPlane.kubeconfig.path, controlPlane.directory);
const tables: GoldenTable[] = [];
for (const { cases, config: more, families, name } of GOLDEN_GROUPS) {
  await using vcenter = await LabVcenter.start({ machines: cases.length });
  const machines = await vcenter.machines();
  const prepared = cases.flatMap((golden, at): Prepared[] => {
    const machine = machines[at];
    if (!machine) return [];
    const hostName = golden.guest.hostName.replace('guest-name', machine.name);
    return [{ name: golden.name, golden: { ...golden, guest: { ...golden.guest, hostName } }, machine }];
  });
  const family = families === undefined ? '' : `ip-family = "${families}"\n`;
  const config = LabVcenter.config([vcenter], more).replace(
    'insecure-flag = "1"\n\n[V',
    `insecure-flag = "1"\n${family}\n[V`,
  );
  const entries = await recorder.record(name, vcenter, config, prepared);
  tables.push({ name, config: withoutAddress(config, vcenter), surroundings: [], tags: {}, entries });
}
{
  await using vcenter = await LabVcenter.start({ datacenters: 4, clusters: 2, hosts: 1, machines: 4, folders: 1 });
  const { prepared, tags } = await prepareZones(vcenter);
  const config = LabVcenter.config([vcenter], LABELS);
  const entries = await recorder.record('zones', vcenter, config, prepared);
  const surroundings = (await vcenter.objects()).map(({ name, parent, reference, type }) => ({
    type,
    reference,
    name,
    ...(parent !== '' && { parent }),
  }));
  const table = {
    name: 'zones',
    config: withoutAddress(config, vcenter),
    surroundings,
    tags: Object.fromEntries(tags),
  };
  tables.push({ ...table, entries });
}
await mkdir(new URL('.', GOLDEN_FILE), { recursive: true });
await writeFile(GOLDEN_FILE, `${JSON.stringify(tables, undefined, 2)}\n`);
