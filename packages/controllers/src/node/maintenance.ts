/**
 * What the cloud says about the maintenance of a machine, as conditions of its node (KEP-5683): `MaintenancePlanned` and
 * `MaintenanceInProgress`. It is said and nothing is done: no taint, no drain. Pure.
 */
import { cutText, NAME_LENGTH, type Instance } from '@outrigger/cloud-provider';
import type { EventNote, Node, NodeCondition } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';

type Maintenance = NonNullable<Instance['maintenance']>;
type MaintenanceType = 'MaintenancePlanned' | 'MaintenanceInProgress';

const TYPES: readonly (readonly [MaintenanceType, Maintenance['state']])[] = [
  ['MaintenancePlanned', 'planned'],
  ['MaintenanceInProgress', 'in-progress'],
];
/** Reasons of our own: a condition with any other is another maintenance controller's, and stays as it is. */
const TRUE_REASON = 'ReportedByCloud';
const FALSE_REASON = 'NoLongerReportedByCloud';

export interface MaintenancePlan {
  readonly conditions: readonly NodeCondition[];
  readonly notes: readonly EventNote[];
}

/** `now`: milliseconds since the Unix epoch. A node about which the cloud says nothing, and never did, gets no condition. */
export function planMaintenance(node: Node, maintenance: Maintenance | undefined, now: number): MaintenancePlan {
  const conditions: NodeCondition[] = [];
  const notes: EventNote[] = [];
  const name = node.metadata?.name ?? '';
  for (const [type, state] of TYPES) {
    const current = node.status?.conditions?.find((one) => one.type === type);
    const isWanted = maintenance?.state === state;
    if (current && current.reason !== TRUE_REASON && current.reason !== FALSE_REASON) {
      if (isWanted && current.status !== 'True') notes.push(foreignNote(name, type, current));
      continue;
    }
    if (!isWanted && current?.status !== 'True') continue;
    const message = isWanted ? messageOf(maintenance) : 'The cloud does not report it any more.';
    if (isWanted && current?.status === 'True' && current.message === message) continue;
    const status = isWanted ? 'True' : 'False';
    const time = apiTime(now);
    conditions.push({
      type,
      status,
      reason: isWanted ? TRUE_REASON : FALSE_REASON,
      message,
      lastHeartbeatTime: time,
      lastTransitionTime: current?.status === status ? (current.lastTransitionTime ?? time) : time,
    });
    notes.push({ type: 'Normal', reason: isWanted ? type : `${type}Over`, message: `Node ${name}: ${message}` });
  }
  return { conditions, notes };
}

function messageOf({ notBefore, reason, state }: Maintenance): string {
  const what = state === 'planned' ? 'maintenance of its machine is planned' : 'its machine is being maintained';
  const when = notBefore === undefined ? '' : `, not before ${apiTime(notBefore)}`;
  return `The cloud says that ${what}${when}${reason ? `: ${cutText(reason, NAME_LENGTH)}` : ''}.`;
}

function foreignNote(name: string, type: MaintenanceType, { reason = '' }: NodeCondition): EventNote {
  return {
    type: 'Warning',
    reason: 'MaintenanceConditionForeign',
    message: `The cloud reports maintenance of node ${name}, but another program keeps its condition ${type} (reason ${reason.slice(0, NAME_LENGTH)}), which stays as it is. Turn off --node-maintenance-conditions or the other program.`,
  };
}
