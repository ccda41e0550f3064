/** From what is known about a node to what is to be done about it. Pure: entry point `planNode`. */
import { PROVIDER_ID_LENGTH } from '@outrigger/cloud-provider';
import type { NodePlan } from './actions.ts';
import { planInitialisation, planTooLong } from './initialise.ts';
import { stableFromBeta } from './labels.ts';
import type { Observed } from './observed.ts';
import { ownerOf } from '../provider-id.ts';
import { planMaintenance } from './maintenance.ts';
import { planRefresh } from './refresh.ts';
import { isUninitialized } from './taints.ts';
import { isUnmanaged } from '../unmanaged-nodes.ts';

/**
 * What to do about one node. Nodes without a machine, nodes of another provider and nodes that are being deleted are left alone; so is a node
 * without the taint and without a provider ID of ours, which never was ours to look after.
 */
export function planNode(observed: Observed): NodePlan {
  const { node, answer, now, options, withProviderID } = observed;
  if (node.metadata?.deletionTimestamp) return { kind: 'nothing', reason: 'being-deleted' };
  if (isUnmanaged(node, options)) return { kind: 'nothing', reason: 'unmanaged' };
  const owner = ownerOf(node.spec?.providerID, options.providerName);
  if (owner === 'foreign') return { kind: 'nothing', reason: 'foreign' };
  if (isUninitialized(node)) {
    if ((node.spec?.providerID?.length ?? 0) > PROVIDER_ID_LENGTH) return planTooLong(node);
    return answer ? planInitialisation({ ...observed, answer }) : { kind: 'look-up' };
  }
  if (owner !== 'ours') return { kind: 'nothing', reason: 'not-ours' };
  if (answer?.result.kind === 'found') {
    const ids = node.spec?.providerID ? [node.spec.providerID] : [];
    const { instance } = answer.result;
    const maintenance = options.maintenanceConditions ? planMaintenance(node, instance.maintenance, now) : undefined;
    return planRefresh(node, instance, withProviderID?.(ids) ?? [], maintenance);
  }

  const setLabels = stableFromBeta(node.metadata?.labels ?? {});
  if (Object.keys(setLabels).length > 0) {
    return { kind: 'act', actions: [{ kind: 'patch-object', setLabels, addLabels: {}, removeTaint: false }] };
  }
  return { kind: 'nothing', reason: answer ? 'cloud-says-nothing' : 'up-to-date' };
}
