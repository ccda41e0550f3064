/** A server of nova, and what its status says of the machine. */
import { CloudError, quote, type Instance, type InstanceMaintenance } from '@outrigger/cloud-provider';

/**
 * As nova answers from microversion 2.47 on (the flavor is in the server). From 2.69 on, one whose cell cannot be reached has
 * little more than `id` and the status `UNKNOWN`.
 */
export interface Server {
  readonly id: string;
  readonly status: string;
  readonly name?: string;
  /** By the name of the network. */
  readonly addresses?: Readonly<Record<string, readonly ServerAddress[]>>;
  /** Empty where none is set. */
  readonly accessIPv4?: string;
  readonly accessIPv6?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly flavor?: Flavor;
  /** Null or empty before the server has a host. */
  readonly 'OS-EXT-AZ:availability_zone'?: string | null;
  /** What nova is doing with it just now; null: nothing. */
  readonly 'OS-EXT-STS:task_state'?: string | null;
  /** Of its host, from 2.16 on, where nova's policy shows it (`show:host_status`; by default to administrators only). */
  readonly host_status?: string;
  readonly locked?: boolean;
  /** From 2.73 on: what the one who locked it wrote. */
  readonly locked_reason?: string | null;
}

interface ServerAddress {
  readonly addr: string;
  readonly 'OS-EXT-IPS:type'?: 'fixed' | 'floating';
}

interface Flavor {
  /** From 2.47 on: the name that the flavor had when the server got it. */
  readonly original_name?: string;
  /** Below 2.47 only. */
  readonly id?: string;
}

/** The status in which nova leaves a server whose cell it cannot reach, from 2.69 on. It says nothing of the machine. */
const UNKNOWN = 'UNKNOWN';

/**
 * What nova's statuses mean (compute API guide, "Server status"). One that is not here is one that nova has learnt since: such
 * a machine is running, because only what is certainly shut down is shut down.
 */
export const serverStates: Readonly<Record<string, Instance['state']>> = {
  ACTIVE: 'running',
  BUILD: 'running',
  DELETED: 'running',
  ERROR: 'running',
  HARD_REBOOT: 'running',
  MIGRATING: 'running',
  PASSWORD: 'running',
  PAUSED: 'running',
  REBOOT: 'running',
  REBUILD: 'running',
  RESCUE: 'running',
  RESIZE: 'running',
  REVERT_RESIZE: 'running',
  SHELVED: 'running',
  SHELVED_OFFLOADED: 'shutdown',
  SHUTOFF: 'shutdown',
  SOFT_DELETED: 'running',
  SUSPENDED: 'running',
  VERIFY_RESIZE: 'running',
};

/** Throws `unavailable` for a server about which nova itself knows nothing now. */
export function stateOf({ id, status }: Server): Instance['state'] {
  if (status === UNKNOWN) {
    throw new CloudError(
      'unavailable',
      `server ${id}: nova reports the status UNKNOWN: its cell cannot be reached; it is retried`,
    );
  }
  return serverStates[status] ?? 'running';
}

/** nova has no field for an announcement: operators lock the server and write why. A lock without these words is no maintenance. */
const ANNOUNCES = /\b(?:maintenance|migrat)/i;

/**
 * What nova lets a project see of maintenance: that the server is being moved to another host, that it was locked for that, and where its
 * policy shows the state of hosts, that the host takes no new servers. A cold migration looks like a resize, which is the project's own wish.
 */
export function maintenanceOf(server: Server): InstanceMaintenance | undefined {
  if (server.status === 'MIGRATING' || server['OS-EXT-STS:task_state'] === 'migrating') {
    return { state: 'in-progress', reason: 'nova moves the server to another host' };
  }
  const reason = server.locked ? (server.locked_reason ?? '') : '';
  if (ANNOUNCES.test(reason)) return { state: 'planned', reason: `the server is locked in nova: ${quote(reason)}` };
  if (server.host_status === 'MAINTENANCE') return { state: 'planned', reason: 'the host is disabled in nova' };
  return undefined;
}
