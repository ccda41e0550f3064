/** A server as nova's database holds it, and what each of its states is in nova's three columns. */

export interface FakeFlavor {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  readonly ram: number;
  readonly disk: number;
}

export type ServerStatus =
  | 'ACTIVE'
  | 'BUILD'
  | 'DELETED'
  | 'ERROR'
  | 'HARD_REBOOT'
  | 'MIGRATING'
  | 'PASSWORD'
  | 'PAUSED'
  | 'REBOOT'
  | 'REBUILD'
  | 'RESCUE'
  | 'RESIZE'
  | 'REVERT_RESIZE'
  | 'SHELVED'
  | 'SHELVED_OFFLOADED'
  | 'SHUTOFF'
  | 'SOFT_DELETED'
  | 'SUSPENDED'
  | 'UNKNOWN'
  | 'VERIFY_RESIZE';

/** From the status that the API shows (nova/api/openstack/common.py, `_STATE_MAP`) to state, task and power. */
export const STATES: Readonly<Record<ServerStatus, readonly [state: string, task: string | null, power: number]>> = {
  ACTIVE: ['active', null, 1],
  BUILD: ['building', 'spawning', 0],
  DELETED: ['deleted', null, 0],
  ERROR: ['error', null, 0],
  HARD_REBOOT: ['active', 'reboot_started_hard', 1],
  MIGRATING: ['active', 'migrating', 1],
  PASSWORD: ['active', 'updating_password', 1],
  PAUSED: ['paused', null, 3],
  REBOOT: ['active', 'reboot_started', 1],
  REBUILD: ['active', 'rebuilding', 1],
  RESCUE: ['rescued', null, 1],
  RESIZE: ['active', 'resize_prep', 1],
  REVERT_RESIZE: ['resized', 'resize_reverting', 1],
  SHELVED: ['shelved', null, 4],
  SHELVED_OFFLOADED: ['shelved_offloaded', null, 4],
  SHUTOFF: ['stopped', null, 4],
  SOFT_DELETED: ['soft-delete', null, 4],
  SUSPENDED: ['suspended', null, 4],
  UNKNOWN: ['unknown', null, 0],
  VERIFY_RESIZE: ['resized', null, 1],
};

export interface FakeServer {
  readonly id: string;
  name: string;
  readonly projectId: string;
  readonly userId: string;
  status: ServerStatus;
  flavor: FakeFlavor;
  zone: string;
  /** The database it lives in. */
  cell: string;
  readonly created: string;
  updated: string;
  metadata: Readonly<Record<string, string>>;
  accessIPv4: string;
  accessIPv6: string;
  tags: readonly string[];
  /** `undefined`: nobody has locked it; null: somebody has, and gave no reason. */
  lockReason: string | null | undefined;
}
