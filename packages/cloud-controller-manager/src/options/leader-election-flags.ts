/** Who of several replicas does the work. */
import { bool, duration, oneOf, string, type FlagGroup } from '@outrigger/controller-manager';

export interface LeaderElectionOptions {
  leaderElect: boolean;
  leaderElectLeaseDuration: number;
  leaderElectRenewDeadline: number;
  leaderElectRetryPeriod: number;
  leaderElectResourceLock: 'leases';
  leaderElectResourceName: string;
  leaderElectResourceNamespace: string;
}

export const leaderElectionFlags: FlagGroup<LeaderElectionOptions> = {
  title: 'Leader election',
  flags: {
    leaderElect: {
      type: bool,
      default: true,
      usage: 'Work only while holding the Lease, so that one of several replicas does.',
    },
    leaderElectLeaseDuration: {
      type: duration({ minMs: 1 }),
      default: 15_000,
      usage: 'How long the others wait after the last renewal that they have seen before one of them takes over.',
    },
    leaderElectRenewDeadline: {
      type: duration({ minMs: 1 }),
      default: 10_000,
      usage: 'How long the leader tries to renew before it gives up. Less than the lease duration.',
    },
    leaderElectRetryPeriod: {
      type: duration({ minMs: 1 }),
      default: 2_000,
      usage: 'Time between two attempts to take or renew the Lease.',
    },
    leaderElectResourceLock: {
      type: oneOf(['leases']),
      default: 'leases',
      usage: 'The kind of lock: there is one.',
    },
    leaderElectResourceName: { type: string, default: 'cloud-controller-manager', usage: 'Name of the Lease.' },
    leaderElectResourceNamespace: { type: string, default: 'kube-system', usage: 'Namespace of the Lease.' },
  },
};
