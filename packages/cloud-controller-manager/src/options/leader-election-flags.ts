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
      usage: 'Run the controllers only while holding the Lease, so that one of several replicas is active.',
    },
    leaderElectLeaseDuration: {
      type: duration({ minMs: 1 }),
      default: 15_000,
      usage:
        'How long the other candidates wait after the last renewal that they observed before one of them acquires the Lease.',
    },
    leaderElectRenewDeadline: {
      type: duration({ minMs: 1 }),
      default: 10_000,
      usage:
        'How long the leader retries renewing the Lease before it gives up leadership. Must be less than the lease duration.',
    },
    leaderElectRetryPeriod: {
      type: duration({ minMs: 1 }),
      default: 2_000,
      usage: 'Time between two attempts to acquire or renew the Lease.',
    },
    leaderElectResourceLock: {
      type: oneOf(['leases']),
      default: 'leases',
      usage: 'The type of lock; only leases is supported.',
    },
    leaderElectResourceName: { type: string, default: 'cloud-controller-manager', usage: 'Name of the Lease.' },
    leaderElectResourceNamespace: { type: string, default: 'kube-system', usage: 'Namespace of the Lease.' },
  },
};
