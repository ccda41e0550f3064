/** Who leads, by the Lease. Pure. Entry point: `leaderOf`. */
import { hostOf } from '@outrigger/cloud-controller-manager';
import { ageText } from './age-text.ts';
import type { ClusterFacts } from './cluster-facts.ts';
import type { LeaderStatus, ProcessStatus, Reading } from './cluster-status.ts';
import { mapped } from './indexed-facts.ts';
import { shell } from './shell-command.ts';
import type { Tell } from './tell-problem.ts';
import { millisecondsOf, timeOf } from './wire-time.ts';

/** Clocks differ: of the API server's clients, and of who asks. */
const SKEW_MS = 5_000;

export function leaderOf(facts: ClusterFacts, process: Reading<ProcessStatus>, tell: Tell): Reading<LeaderStatus> {
  return mapped(facts.lease, (lease) => {
    const name = `${facts.namespace}/${facts.leaseName}`;
    const { acquireTime, holderIdentity: holder = '', leaseTransitions = 0, renewTime } = lease?.spec ?? {};
    const renewed = millisecondsOf(renewTime);
    const since = millisecondsOf(acquireTime);
    const lasts = (lease?.spec?.leaseDurationSeconds ?? 15) * 1000;
    const holds = holder !== '' && renewed !== undefined && facts.at - renewed <= lasts + SKEW_MS;
    // A manager with --leader-elect=false, which was named, holds none.
    const runsWithout = lease === undefined && 'value' in process && process.value.controllers.length > 0;
    if (!holds && !runsWithout) {
      const [what, remedy] = noLeader(name, { exists: lease !== undefined, holder, renewed, at: facts.at });
      const logs = shell`kubectl --namespace=${facts.namespace} logs --selector=app.kubernetes.io/component=cloud-controller-manager --tail=50`;
      tell({
        severity: 'error',
        section: 'leader',
        message: what,
        remedy,
        commands: [
          shell`kubectl --namespace=${facts.namespace} get pods --selector=app.kubernetes.io/component=cloud-controller-manager --output=wide`,
          logs,
        ],
        runbook: 'OutriggerNoLeader',
      });
    }
    return {
      lease: name,
      holder,
      host: hostOf(holder),
      holds,
      ...(renewed !== undefined && { renewedAt: timeOf(renewed) }),
      ...(since !== undefined && { since: timeOf(since) }),
      transitions: leaseTransitions,
    };
  });
}

interface LeaseState {
  readonly exists: boolean;
  readonly holder: string;
  readonly renewed: number | undefined;
  readonly at: number;
}

function noLeader(name: string, { at, exists, holder, renewed }: LeaseState): readonly [what: string, remedy: string] {
  if (!exists) {
    return [
      `There is no leader: the Lease ${name} does not exist.`,
      'Start the cloud-controller-manager, or name its Lease (--leader-elect-resource-name, --leader-elect-resource-namespace).',
    ];
  }
  const remedy = 'Check that a Pod of the manager runs, and why it does not take the Lease.';
  if (holder === '') return [`There is no leader: the Lease ${name} has no holder.`, remedy];
  const ago = renewed === undefined ? 'was never renewed' : `was last renewed ${ageText(at - renewed)} ago`;
  return [`There is no leader: the Lease ${name} of ${holder} ${ago}.`, remedy];
}
