/** The plan for a node that carries the uninitialized taint and about which the cloud has been asked. Pure. */
import { isCloudError, PROVIDER_ID_LENGTH, type Instance, type InstanceAnswer } from '@outrigger/cloud-provider';
import { retryAfterMsOf } from '@outrigger/cloud-runtime';
import type { EventNote, Node, NodeCondition } from '@outrigger/kube';
import type { NodeAction, NodePlan, WaitReason } from './actions.ts';
import { hasIpAddress, sameAddresses, wantedAddresses, type StatusAddress } from './addresses.ts';
import { newAnnotations } from './annotations.ts';
import { apiTime } from '../api-time.ts';
import { initialLabels } from './labels.ts';
import type { Observed } from './observed.ts';
import { ownerOf } from '../provider-id.ts';
import { olderTwin } from './twins.ts';
import { invalidLabelsNote, tagMachine } from './refresh.ts';

/** A machine that was made a moment ago is often not listed yet, and a cloud may fail for a moment: no reason to tell anybody. */
const PATIENT = 3;

/** Status first, taint last: a crash in between leaves a node that nothing is scheduled to, and the next pass goes on. */
export function planInitialisation(observed: Observed & { readonly answer: InstanceAnswer }): NodePlan {
  const { node, answer } = observed;
  const { result } = answer;
  const name = node.metadata?.name ?? '';
  switch (result.kind) {
    case 'missing':
      return wait(
        'missing',
        'InstanceNotFound',
        `The cloud does not list a machine for node ${name}. The taint stays; the look-up is retried. Check the name of the machine, or its provider ID.`,
        PATIENT,
      );
    case 'absent':
      return wait(
        'absent',
        'InstanceNotFound',
        `The cloud says that the machine of node ${name} does not exist. The taint stays; the look-up is retried. Check the node's provider ID, or delete the node.`,
        PATIENT,
      );
    case 'failed':
      return waitForCloud(name, result.error);
    default:
      return planFound(observed, result.instance);
  }
}

function planFound(observed: Observed, instance: Instance): NodePlan {
  const { node, options } = observed;
  const name = node.metadata?.name ?? '';

  // kubernetes/kubernetes#123024: once the taint is gone nobody sets the provider ID any more, and load balancers need it.
  const current = node.spec?.providerID ?? '';
  const providerID = current || instance.providerID;
  if (!providerID) {
    return wait(
      'no-provider-id',
      'NoProviderID',
      `The cloud returned no provider ID for the machine of node ${name}. The taint stays until it does.`,
    );
  }
  if (!current && ownerOf(providerID, options.providerName) === 'foreign') {
    return wait(
      'foreign-provider-id',
      'ForeignProviderID',
      `The cloud ${options.providerName} returned the provider ID ${providerID} for node ${name}, which belongs to another provider. The taint stays: a provider ID cannot be changed once it is set.`,
    );
  }

  // Two nodes of one machine: load balancers, routes and the lifecycle would take one for the other.
  const ids = [providerID, ...(instance.providerID ? [instance.providerID] : [])];
  const older = olderTwin(node, observed.withProviderID?.(ids) ?? []);
  if (older) return waitForTwin(name, older, providerID);

  const wanted = wantedAddresses(node, instance.addresses);
  if (wanted.kind === 'refused') {
    return wait(
      'provided-ip-refused',
      'ProvidedNodeIPNotFound',
      `The kubelet's --node-ip of node ${name} cannot be used: ${wanted.problem}. The taint stays; correct --node-ip, or the addresses in the cloud.`,
    );
  }
  if (wanted.kind === 'unknown' && !hasIpAddress(node)) {
    return wait(
      'no-addresses',
      'NoAddresses',
      `The cloud returned no address for node ${name}, and the node has none. The taint stays until there is one.`,
      PATIENT,
    );
  }

  const labels = initialLabels(node.metadata?.labels ?? {}, instance);
  const actions: NodeAction[] = [];
  const status = planStatus(observed, wanted.kind === 'known' ? wanted.addresses : undefined);
  if (status) actions.push(status);
  actions.push({
    kind: 'patch-object',
    ...(!current && { providerID }),
    setLabels: labels.set,
    addLabels: labels.addMissing,
    ...newAnnotations(node, instance),
    removeTaint: true,
  });
  if (labels.invalid.length > 0) actions.push({ kind: 'event', note: invalidLabelsNote(name, labels.invalid) });
  if (options.nodeSyncedEvents) {
    actions.push({ kind: 'event', note: { type: 'Normal', reason: 'Synced', message: 'Node synced successfully' } });
  }
  actions.push(...tagMachine(instance));
  return { kind: 'act', actions };
}

/** No cloud has IDs so long, and none is asked about it. */
export function planTooLong(node: Node): NodePlan {
  const message = `The provider ID of node ${node.metadata?.name ?? ''} has more than ${PROVIDER_ID_LENGTH} characters. The taint stays: a provider ID cannot be changed once it is set; delete the node and correct the kubelet's --provider-id.`;
  return wait('provider-id-too-long', 'ProviderIDTooLong', message);
}

function planStatus(observed: Observed, wanted: readonly StatusAddress[] | undefined): NodeAction | undefined {
  const { node, options, now } = observed;
  const addresses = wanted && !sameAddresses(node.status?.addresses ?? [], wanted) ? wanted : undefined;
  const condition = options.runsRoutes ? noRouteYet(node, now) : undefined;
  if (!addresses && !condition) return undefined;
  return { kind: 'patch-status', ...(addresses && { addresses }), ...(condition && { conditions: [condition] }) };
}

/** Until the route controller has made the first route; a condition that is there already is its word, or another network's. */
function noRouteYet(node: Node, now: number): NodeCondition | undefined {
  if ((node.status?.conditions ?? []).some(({ type }) => type === 'NetworkUnavailable')) return undefined;
  const time = apiTime(now);
  return {
    type: 'NetworkUnavailable',
    status: 'True',
    reason: 'NoRouteCreated',
    message: 'There is no route to the pods of this node yet',
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
}

function waitForTwin(name: string, older: Node, providerID: string): NodePlan {
  const other = older.metadata?.name ?? '';
  const what = `Nodes ${other} and ${name} both belong to the machine ${providerID}. ${other} is older and is kept; ${name} keeps its taint.`;
  const message = `${what} Delete the one that is not that machine, and find out who registered it.`;
  const note: EventNote = { type: 'Warning', reason: 'DuplicateProviderID', message };
  return { kind: 'wait', reason: 'duplicate-provider-id', note, tellAfter: 1, other: { node: older, note } };
}

function waitForCloud(name: string, error: Error): NodePlan {
  if (isCloudError(error, 'implemented-elsewhere')) return { kind: 'nothing', reason: 'implemented-elsewhere' };
  if (isCloudError(error, 'conflict')) {
    return wait(
      'ambiguous',
      'AmbiguousInstance',
      `The machine of node ${name} cannot be determined: ${error.message}. The taint stays; rename one of them, or set the node's provider ID.`,
    );
  }
  // The message of any other error may hold what no Event should: it goes to the log, which redacts.
  const why = isCloudError(error) ? `${error.message} (${error.code})` : 'see the log for the error';
  const plan = wait(
    'failed',
    'InstanceLookUpFailed',
    `The look-up of node ${name} in the cloud failed: ${why}. The taint stays; the look-up is retried. Check the cloud config and the credentials.`,
    isCloudError(error, 'retry-after') ? Infinity : PATIENT,
  );
  const retryAfterMs = retryAfterMsOf(error);
  return retryAfterMs === undefined ? plan : { ...plan, retryAfterMs };
}

function wait(reason: WaitReason, event: string, message: string, tellAfter = 1): NodePlan & { readonly kind: 'wait' } {
  const note: EventNote = { type: 'Warning', reason: event, message };
  return { kind: 'wait', reason, note, tellAfter };
}
