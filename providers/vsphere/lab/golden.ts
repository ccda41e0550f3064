/** What is written to golden/: what the official provider made of nodes, and of which machines. */
import { readFileSync } from 'node:fs';
import type { InventoryObject, AttachedTag } from '../src/inventory/vcenter.ts';
import type { VirtualMachine } from '../src/inventory/virtual-machine.ts';

/** A node, as the official provider left it. */
export interface GoldenNode {
  /** Whether the taint of an uninitialised node has gone. */
  readonly initialised: boolean;
  readonly providerId?: string | undefined;
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
  /** Those that a cloud sets. */
  readonly labels: Readonly<Record<string, string>>;
}

export interface GoldenEntry {
  readonly name: string;
  /** Of the node. */
  readonly systemUuid: string;
  readonly machine: VirtualMachine;
  readonly node: GoldenNode;
}

export interface GoldenTable {
  readonly name: string;
  /** The whole `cloud.conf`, without the address of the vCenter. */
  readonly config: string;
  readonly surroundings: readonly InventoryObject[];
  /** By reference. */
  readonly tags: Readonly<Record<string, readonly AttachedTag[]>>;
  readonly entries: readonly GoldenEntry[];
}

export const GOLDEN_FILE: URL = new URL('golden/nodes.json', import.meta.url);

/** As they were recorded last. */
export function goldenTables(): readonly GoldenTable[] {
  return JSON.parse(readFileSync(GOLDEN_FILE, 'utf8')) as readonly GoldenTable[];
}
