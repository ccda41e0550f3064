/** Instances of vSphere: virtual machines of all vCenters of the configuration. */
import {
  asError,
  CloudError,
  isCloudError,
  type CallContext,
  type Clock,
  type InstanceAnswer,
  type InstanceHint,
  type InstanceNeed,
  type Instances,
  type NodeRef,
} from '@outrigger/cloud-provider';
import { hintsOfAll } from '@outrigger/provider-kit';
import type { VsphereConfig } from '../config/vsphere-config.ts';
import type { VirtualMachine } from '../inventory/virtual-machine.ts';
import { askedMachine, type AskedMachine } from './asked-machine.ts';
import { biosUuid, eitherOrder, providerIDOf, uuidOf } from './bios-uuid.ts';
import { SeenMachines, theOne, type FoundMachine } from './found-machine.ts';
import type { KnownVcenter } from './known-vcenter.ts';
import { foundMetadata, foundState, type Told } from './machine-instance.ts';
import { proveAbsence } from './prove-absence.ts';
import { referenceText } from './reference.ts';
import { RememberedMachines } from './remembered-machines.ts';
import { zoneOf, zonePaths, type Zone } from './zones.ts';

/** What is in use now: a reload replaces it. */
export interface Site extends Pick<VsphereConfig, 'addresses' | 'zones'> {
  readonly vcenters: readonly KnownVcenter[];
  /** Aborts when it is no longer in use. */
  readonly signal: AbortSignal;
}

export interface VsphereInstancesOptions {
  /** The provider's. */
  readonly name: string;
  readonly clock: Clock;
  readonly site: () => Site;
}

/** So few nodes are searched for by UUID, which is less than a list of all machines. */
const MOST_DIRECT = 2;

/** What one vCenter has shown, or why it has not. */
interface Looked {
  readonly vcenter: KnownVcenter;
  readonly seen: SeenMachines | Error;
}

type Found = FoundMachine<KnownVcenter>;
type Result = InstanceAnswer['result'];

/** What was asked, and what was found, of each node. */
interface Question {
  readonly site: Site;
  readonly need: InstanceNeed;
  readonly asOf: number;
  readonly nodes: readonly NodeRef[];
  readonly found: readonly (Found | Result)[];
}

export class VsphereInstances implements Instances {
  /** One list a vCenter serves them all. */
  readonly batchSize = 5_000;
  readonly #options: VsphereInstancesOptions;
  readonly #remembered = new RememberedMachines();

  constructor(options: VsphereInstancesOptions) {
    this.#options = options;
  }

  machineOf(providerID: string): string | undefined {
    const uuid = uuidOf(providerID, this.#options.name);
    return uuid === undefined ? undefined : eitherOrder(uuid).toSorted()[0];
  }

  async lookUp(nodes: readonly NodeRef[], need: InstanceNeed, call: CallContext): Promise<readonly InstanceAnswer[]> {
    if (nodes.length === 0) return [];
    const asOf = this.#options.clock.monotonic();
    const site = this.#options.site();
    const asked = nodes.map((node) => this.#asked(node));
    const isDirect =
      asked.every(({ by }) => by !== 'name') &&
      asked.filter(({ by }) => by === 'uuid').length <= MOST_DIRECT &&
      site.vcenters.every(({ settings }) => settings.datacenters.length === 0);
    const kept = need === 'metadata' ? this.#kept(nodes, asked, site, asOf) : undefined;
    if (kept) return kept;
    const looked = await this.#eachVcenter(site, call, async (vcenter) => {
      const identity = await vcenter.identity(call);
      if (!isDirect)
        return new SeenMachines(identity, await vcenter.machines(call, need === 'metadata' && !!site.zones));
      const machines = await Promise.all(asked.map((one) => searched(vcenter, one, call)));
      return new SeenMachines(identity, { machines: machines.flat() });
    });
    throwWhereAllFailed(looked);
    const found = nodes.map((node, at) => this.#found(node, asked[at], looked));
    return this.#answers({ site, need, asOf, nodes, found }, { call, looked, areWhole: !isDirect });
  }

  /** For a refresh: nodes that are all initialised, and whose machines were all found when nothing had changed yet. */
  #kept(
    nodes: readonly NodeRef[],
    asked: readonly AskedMachine[],
    site: Site,
    now: number,
  ): readonly InstanceAnswer[] | undefined {
    if (!asked.every((one) => one.by === 'uuid' && one.isByID)) return undefined;
    const all = site.vcenters.flatMap((vcenter) => {
      const kept = vcenter.kept(now);
      return kept ? [{ vcenter, ...kept }] : [];
    });
    if (all.length < site.vcenters.length) return undefined;
    const found = nodes.map((node, at) => this.#found(node, asked[at], all));
    const zones = new Map<VirtualMachine, Zone | undefined>();
    for (const one of found) {
      if (!('machine' in one)) return undefined;
      const known = all.find(({ vcenter }) => vcenter === one.where)?.zones;
      if (!known?.has(one.machine.reference)) return undefined;
      zones.set(one.machine, known.get(one.machine.reference));
    }
    const asOf = Math.min(...all.map(({ at }) => at));
    return this.#placed({ site, need: 'metadata', asOf, nodes, found }, zones);
  }

  async read(node: NodeRef, need: InstanceNeed, call: CallContext): Promise<InstanceAnswer> {
    const asOf = this.#options.clock.monotonic();
    const site = this.#options.site();
    const asked = this.#asked(node);
    const looked = await this.#eachVcenter(site, call, async (vcenter) => {
      const identity = await vcenter.identity(call);
      // By name there is no other way than the list; and nothing that it lacks is proved.
      const machines =
        asked.by === 'name' ? (await vcenter.allMachines(call)).machines : await searched(vcenter, asked, call);
      return new SeenMachines(identity, { machines });
    });
    let found = this.#found(node, asked, looked);
    if (asked.by === 'uuid' && asked.isByID && 'kind' in found && found.kind === 'missing') {
      found = otherHit(node, looked) ?? (await this.#gone(node, asked, site, call));
    }
    const question = { site, need, asOf, nodes: [node], found: [found] };
    const [answer] = await this.#answers(question, { call, looked, areWhole: false });
    if (!answer) throw new Error(`read of node ${node.name}: no answer`);
    return answer;
  }

  changes(call: CallContext): AsyncIterable<InstanceHint> {
    const { signal, vcenters } = this.#options.site();
    const sources = vcenters.map((vcenter) => ({
      name: vcenter.api.address,
      hints: (until: CallContext) => this.#hints(vcenter, until),
    }));
    return hintsOfAll(sources, this.#options.clock, { ...call, signal: AbortSignal.any([call.signal, signal]) });
  }

  async *#hints(vcenter: KnownVcenter, call: CallContext): AsyncIterable<InstanceHint | undefined> {
    const { clock, name } = this.#options;
    try {
      for await (const { reference } of vcenter.api.changes(call, () => vcenter.following(clock.monotonic()))) {
        const { knownIdentity = '' } = vcenter;
        const uuid = reference && this.#remembered.uuidAt({ vcenter: knownIdentity, reference });
        // What is no node's yet is looked up when its node is there.
        const isNodes = reference === undefined || uuid !== undefined;
        if (isNodes) vcenter.changed(clock.monotonic());
        yield isNodes ? { ...(uuid !== undefined && { providerID: providerIDOf(uuid, name) }) } : undefined;
      }
    } finally {
      vcenter.lost();
    }
  }

  #asked(node: NodeRef): AskedMachine {
    return askedMachine(node, this.#options.name, (uuids) => this.#remembered.references(uuids));
  }

  /** All at once: one that is slow or down holds up none of the others. */
  #eachVcenter(
    { vcenters }: Site,
    { signal }: CallContext,
    look: (vcenter: KnownVcenter) => Promise<SeenMachines>,
  ): Promise<readonly Looked[]> {
    return Promise.all(
      vcenters.map(async (vcenter) => {
        try {
          return { vcenter, seen: await look(vcenter) };
        } catch (error) {
          signal.throwIfAborted();
          return { vcenter, seen: asError(error) };
        }
      }),
    );
  }

  #found(node: NodeRef, asked: AskedMachine | undefined, looked: readonly Looked[]): Found | Result {
    if (!asked || asked.by === 'nothing') return { kind: 'missing' };
    if (asked.by === 'error') return { kind: 'failed', error: asked.error };
    // Of several sections of one vCenter each may show it.
    const candidates = new Map<string, Found>();
    for (const { seen, vcenter } of looked) {
      if (seen instanceof Error) continue;
      for (const machine of seen.of(asked))
        candidates.set(referenceText({ ...machine, vcenter: seen.vcenter }), { where: vcenter, machine });
    }
    const seenAt = asked.by === 'uuid' ? asked.references : [];
    const one = theOne(node.name, candidates, seenAt);
    if (isCloudError(one)) return { kind: 'failed', error: one };
    const failed = looked.find(({ seen }) => seen instanceof Error);
    // One that is off may be the replica of a machine that runs where nobody has answered; not where the node was seen.
    const isSeenThere = seenAt.some(({ vcenter }) => vcenter === one?.where.knownIdentity);
    if (one && (!failed || isSeenThere || one.machine.powerState === 'poweredOn')) return this.#noted(one);
    return failed ? { kind: 'failed', error: failed.seen as Error } : { kind: 'missing' };
  }

  #noted(found: Found): Found {
    const { knownIdentity } = found.where;
    if (knownIdentity !== undefined) this.#remembered.note(knownIdentity, found.machine);
    return found;
  }

  /** Its provider ID names a machine that no vCenter has found. */
  async #gone(
    node: NodeRef,
    asked: Extract<AskedMachine, { by: 'uuid' }>,
    site: Site,
    call: CallContext,
  ): Promise<Found | Result> {
    const { vcenters } = site;
    // A kubelet that reports another machine: whatever became of the first, that one may be alive.
    const reported = biosUuid(node.systemUUID);
    if (reported !== undefined && !asked.uuids.includes(reported)) {
      for (const uuid of eitherOrder(reported)) {
        const references = await Promise.all(vcenters.map(({ api }) => api.findByUuid(uuid, call)));
        const [reference] = references.flat();
        if (reference === undefined) continue;
        const message = `node ${node.name}: the machine of its provider ID is not there, and its kubelet reports the machine ${reference} (BIOS UUID ${uuid}); delete the node, so that it registers again`;
        return { kind: 'failed', error: new CloudError('conflict', message) };
      }
    }
    const names = this.#remembered.names(asked.uuids);
    const proof = await proveAbsence({ node, asked, vcenters, names }, call);
    if (typeof proof === 'string') return { kind: 'absent', proof, wasHere: true };
    const where = vcenters.find(({ knownIdentity }) =>
      asked.references.some(({ reference, vcenter }) => vcenter === knownIdentity && reference === proof.reference),
    );
    return where ? { where, machine: proof } : { kind: 'missing' };
  }

  async #answers(
    question: Question,
    {
      areWhole,
      call,
      looked,
    }: {
      readonly call: CallContext;
      readonly looked: readonly Looked[];
      /** What was looked at are whole lists. */
      readonly areWhole: boolean;
    },
  ): Promise<readonly InstanceAnswer[]> {
    const { asOf, found, need, nodes, site } = question;
    if (need === 'state') return this.#placed(question, new Map());
    const machines = found.flatMap((one) => ('machine' in one ? [one] : []));
    const oldNames = nodes.every(({ providerID }) => providerID !== undefined && providerID !== '');
    const zones = await zonesOf(machines, { site, looked, oldNames }, call);
    for (const { seen, vcenter } of areWhole ? looked : [])
      if (!(seen instanceof Error)) vcenter.keep({ at: asOf, seen, zones: new Map() });
    for (const { machine, where } of machines) {
      const zone = zones.get(machine);
      if (!(zone instanceof Error)) where.kept(asOf)?.zones.set(machine.reference, zone);
    }
    return this.#placed(question, zones);
  }

  #placed(question: Question, zones: ReadonlyMap<VirtualMachine, Zone | Error | undefined>): readonly InstanceAnswer[] {
    const { asOf, found, nodes, site } = question;
    const place = placeOf(site);
    return nodes.map((node, at) => {
      const one = found[at] ?? { kind: 'missing' };
      const told = 'machine' in one ? this.#told(node, one, zones.get(one.machine), question) : { result: one };
      return { asOf, ...told, ...(place !== undefined && { place }) };
    });
  }

  #told(node: NodeRef, { machine, where }: Found, zone: Zone | Error | undefined, { need, site }: Question): Told {
    const providerName = this.#options.name;
    if (need === 'state') return foundState(node, machine, providerName);
    if (zone instanceof Error) return { result: { kind: 'failed', error: zone } };
    return foundMetadata(node, machine, {
      providerName,
      vcenter: where.knownIdentity ?? '',
      rules: { ...site.addresses, families: where.settings.families },
      ...(site.zones && { zone: { found: zone } }),
      host: where.maintenance.get(machine.host ?? ''),
    });
  }
}

/** In all of which the machines of the cluster are; `undefined` until each has said which it is. */
function placeOf({ vcenters }: Site): string | undefined {
  const identities = vcenters.flatMap(({ knownIdentity }) => knownIdentity ?? []);
  return identities.length < vcenters.length ? undefined : [...new Set(identities)].toSorted().join(',');
}

/** In the whole vCenter, by UUID and where it was seen before. */
async function searched(
  vcenter: KnownVcenter,
  asked: AskedMachine,
  call: CallContext,
): Promise<readonly VirtualMachine[]> {
  if (asked.by !== 'uuid') return [];
  const found = await Promise.all(asked.uuids.map((uuid) => vcenter.api.findByUuid(uuid, call)));
  const machines = await Promise.all(
    [...new Set(found.flat())].map((reference) => vcenter.api.machine(reference, call)),
  );
  // One that has just been removed is found by the next search, or not.
  return machines.flatMap((machine) => (machine === 'gone' ? [] : [machine]));
}

/** What the search by UUID has found is there, whatever it says of itself by now: a template, or one whose configuration was just lost. */
function otherHit(node: NodeRef, looked: readonly Looked[]): Result | undefined {
  for (const { seen, vcenter } of looked) {
    const hit = seen instanceof Error ? undefined : seen.all[0];
    if (!hit) continue;
    const message = `node ${node.name}: the vCenter ${vcenter.api.address} finds ${hit.name} (${hit.reference}) by its BIOS UUID, and that is ${hit.isTemplate ? 'a template' : 'not known to have it'}; if its machine is gone, delete the node`;
    return { kind: 'failed', error: new CloudError('conflict', message) };
  }
  return undefined;
}

/** By machine. Of a vCenter that does not say, the error for each of its machines. */
async function zonesOf(
  found: readonly Found[],
  {
    looked,
    oldNames,
    site: { zones: categories },
  }: { readonly site: Site; readonly looked: readonly Looked[]; readonly oldNames: boolean },
  call: CallContext,
): Promise<ReadonlyMap<VirtualMachine, Zone | Error>> {
  const zones = new Map<VirtualMachine, Zone | Error>();
  if (!categories) return zones;
  const look = async (vcenter: KnownVcenter, machines: readonly VirtualMachine[]): Promise<void> => {
    const seen = looked.find((one) => one.vcenter === vcenter)?.seen;
    const read = seen instanceof SeenMachines ? seen.surroundings : undefined;
    const surroundings = read ?? (await vcenter.api.surroundings(call));
    vcenter.maintenance = new Map([...surroundings].filter(([, { maintenance }]) => maintenance));
    const paths = machines.map((machine) => ({ machine, path: zonePaths(machine, surroundings) }));
    // Machines and their folders are many: only of those that have no zone by their host and their resource pool.
    for (const [from, to] of [
      [0, 2],
      [2, 3],
    ]) {
      const open = paths
        .filter(({ machine }) => !zones.has(machine))
        .map((one) => ({ ...one, path: one.path.slice(from, to) }));
      const objects = new Map(open.flatMap(({ path }) => path.flat()).map((one) => [one.reference, one]));
      if (objects.size === 0) continue;
      const tags = await vcenter.api.tags([...objects.values()], [categories.zone, categories.region], call, {
        oldNames,
      });
      for (const { machine, path } of open) {
        const zone = zoneOf(path, tags, categories);
        if (zone) zones.set(machine, zone);
      }
    }
  };
  const byVcenter = Map.groupBy(found, ({ where }) => where);
  await Promise.all(
    [...byVcenter].map(async ([vcenter, all]) => {
      const machines = all.map(({ machine }) => machine);
      try {
        await look(vcenter, machines);
      } catch (error) {
        call.signal.throwIfAborted();
        for (const machine of machines) zones.set(machine, asError(error));
      }
    }),
  );
  return zones;
}

/** Then the host asks each once, and not as often as the call budget allows, until one works again. */
function throwWhereAllFailed(looked: readonly Looked[]): void {
  const errors = looked.flatMap(({ seen }) => (seen instanceof Error ? [seen] : []));
  const [first] = errors;
  if (first && errors.length === looked.length) throw first;
}
