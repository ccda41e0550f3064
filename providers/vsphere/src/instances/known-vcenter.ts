/** A vCenter of the configuration, and which one it is known to be. */
import type { CallContext } from '@outrigger/cloud-provider';
import { SharedRound } from '@outrigger/provider-kit';
import type { VcenterSettings } from '../config/vsphere-config.ts';
import type { KnownIdentities } from '../inventory/known-identities.ts';
import type { InventoryObject, MachineList, Vcenter } from '../inventory/vcenter.ts';
import type { SeenMachines } from './found-machine.ts';
import type { Zone } from './zones.ts';

/** What a look-up has read of a vCenter. */
export interface KeptMachines {
  /** `host.clock.monotonic()` from before it was asked for. */
  readonly at: number;
  readonly seen: SeenMachines;
  /** By reference, of the machines of nodes; `undefined` of those without. */
  readonly zones: Map<string, Zone | undefined>;
}

/** Tags, and all but the first address of a guest, change without a hint. */
const LONGEST_KEPT_MS = 1_800_000;

export class KnownVcenter {
  readonly settings: VcenterSettings;
  readonly api: Vcenter;
  /** Hosts in maintenance mode or on their way there, by reference, as it said last. */
  maintenance: ReadonlyMap<string, InventoryObject> = new Map();
  readonly #identities: KnownIdentities;
  readonly #identifying = new SharedRound<string>();
  readonly #lists = new SharedRound<MachineList>();
  readonly #wholeLists = new SharedRound<MachineList>();
  #kept: KeptMachines | undefined;
  /** Monotonic: from when on no change was missed. */
  #followedSince = Infinity;
  #changedAt = -Infinity;

  constructor(settings: VcenterSettings, vcenter: Vcenter, identities: KnownIdentities) {
    this.settings = settings;
    this.api = vcenter;
    this.#identities = identities;
  }

  /** `undefined` until it has answered. */
  get knownIdentity(): string | undefined {
    return this.#identities.of(this.api.address);
  }

  /** Asked, where it is not known yet. */
  async identity(call: CallContext): Promise<string> {
    const known = async (): Promise<string> => this.knownIdentity ?? this.confirmIdentity(call);
    return this.knownIdentity ?? this.#identifying.ask(known, call.signal);
  }

  /** Asked in any case, with a session that is valid after the answer. */
  async confirmIdentity(call: CallContext): Promise<string> {
    const identity = (await this.api.identify(call)).toLowerCase();
    this.#identities.admit(this.api.address, identity);
    return identity;
  }

  keep(kept: KeptMachines): void {
    this.#kept = kept;
  }

  /** What was read last, while nothing that is known to be a node has changed since; `now`: monotonic. */
  kept(now: number): KeptMachines | undefined {
    const { at = -Infinity } = this.#kept ?? {};
    const isQuiet = this.#followedSince <= at && this.#changedAt < at && now - at < LONGEST_KEPT_MS;
    return isQuiet ? this.#kept : undefined;
  }

  /** No change is missed from now on. */
  following(now: number): void {
    this.#followedSince = now;
  }

  lost(): void {
    this.#followedSince = Infinity;
  }

  changed(now: number): void {
    this.#changedAt = now;
  }

  /** Of the whole vCenter, read after it was asked for, once for all who ask at the same time. */
  async allMachines(call: CallContext, surroundings: boolean = false): Promise<MachineList> {
    const round = surroundings ? this.#wholeLists : this.#lists;
    return round.ask(() => this.api.machines(call, { surroundings }), call.signal);
  }

  /** Of the datacenters that are configured. */
  async machines(call: CallContext, surroundings: boolean): Promise<MachineList> {
    const { datacenters } = this.settings;
    if (datacenters.length === 0) return this.allMachines(call, surroundings);
    return this.api.machines(call, { datacenters, surroundings });
  }
}
