/** A vCenter in memory, which answers at once; every request goes through the host's budget, and can be made to fail. */
import { CloudError, type CallContext } from '@outrigger/cloud-provider';
import type {
  AttachedTag,
  InventoryChange,
  InventoryObject,
  ListOptions,
  MachineList,
  ManagedObject,
  Vcenter,
} from '../src/inventory/vcenter.ts';
import type { VirtualMachine } from '../src/inventory/virtual-machine.ts';

export class MemoryVcenter implements Vcenter {
  readonly address: string;
  /** `about.instanceUuid`. */
  identity: string;
  readonly inventory: Map<string, VirtualMachine> = new Map();
  /** Machines that the account may not see: lists and searches lack them. */
  readonly forbidden: Set<string> = new Set();
  readonly withheld: { readonly reference: string; readonly fault: string }[] = [];
  readonly objects: Map<string, InventoryObject> = new Map();
  readonly attached: Map<string, readonly AttachedTag[]> = new Map();
  /** What each request is answered with instead; `undefined`: as usual. */
  fault: ((method: string) => Error | undefined) | undefined;
  /** Lists and searches have nothing in them. */
  isEmpty: boolean = false;
  isClosed: boolean = false;
  /** By method. */
  readonly requests: string[] = [];
  readonly #changes: InventoryChange[] = [];
  #wake: PromiseWithResolvers<void> = Promise.withResolvers<void>();

  constructor(address: string, identity: string) {
    this.address = address;
    this.identity = identity;
  }

  put(machine: VirtualMachine): void {
    this.inventory.set(machine.reference, machine);
    this.change({ reference: machine.reference, kind: 'modify' });
  }

  change(change: InventoryChange): void {
    this.#changes.push(change);
    this.#wake.resolve();
  }

  identify(call: CallContext): Promise<string> {
    return this.#ask(call, 'identify', () => this.identity);
  }

  /** Each datacenter is the name of a folder in which machines are directly. */
  machines(call: CallContext, { datacenters, surroundings = false }: ListOptions = {}): Promise<MachineList> {
    return this.#ask(call, 'machines', () => {
      const all = this.isEmpty ? [] : this.#seen();
      const machines = all.filter(({ parent = '' }) => !datacenters || datacenters.includes(parent));
      return { machines, withheld: this.withheld, ...(surroundings && { surroundings: this.objects }) };
    });
  }

  findByUuid(uuid: string, call: CallContext): Promise<readonly string[]> {
    return this.#ask(call, 'findByUuid', () => {
      if (this.isEmpty) return [];
      return this.#seen().flatMap(({ biosUuid, reference }) => (biosUuid === uuid ? [reference] : []));
    });
  }

  machine(reference: string, call: CallContext): Promise<VirtualMachine | 'gone'> {
    return this.#ask(call, 'machine', () => {
      if (this.forbidden.has(reference)) throw new CloudError('forbidden', `NoPermission: ${reference}`);
      return this.inventory.get(reference) ?? 'gone';
    });
  }

  surroundings(call: CallContext): Promise<ReadonlyMap<string, InventoryObject>> {
    return this.#ask(call, 'surroundings', () => this.objects);
  }

  tags(
    objects: readonly ManagedObject[],
    categories: readonly string[],
    call: CallContext,
  ): Promise<ReadonlyMap<string, readonly AttachedTag[]>> {
    return this.#ask(call, 'tags', () => {
      const asked = objects.map(({ reference }): [string, readonly AttachedTag[]] => [
        reference,
        (this.attached.get(reference) ?? []).filter(({ category }) => categories.includes(category)),
      ]);
      return new Map(asked);
    });
  }

  async *changes(call: CallContext, onFollowing?: () => void): AsyncIterable<InventoryChange> {
    onFollowing?.();
    const stop = (): void => this.#wake.resolve();
    call.signal.addEventListener('abort', stop, { once: true });
    while (!call.signal.aborted) {
      yield* await this.#ask(call, 'changes', () => this.#changes.splice(0));
      await this.#wake.promise;
      this.#wake = Promise.withResolvers();
    }
  }

  close(): Promise<void> {
    this.isClosed = true;
    return Promise.resolve();
  }

  #seen(): readonly VirtualMachine[] {
    return [...this.inventory.values()].filter(({ reference }) => !this.forbidden.has(reference));
  }

  #ask<T>(call: CallContext, method: string, answer: () => T): Promise<T> {
    return call.call({ name: method, idempotent: true }, async (signal) => {
      signal.throwIfAborted();
      this.requests.push(method);
      const fault = this.fault?.(method);
      if (fault) throw fault;
      return answer();
    });
  }
}
