/** A node, and the plan for it, in sentences. Pure. */
import type { Node } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import type { NotedAction } from '../journal.ts';
import type { IdleReason, NodeAction, NodePlan, TellEvent } from './actions.ts';
import type { LabelSet } from './labels.ts';
import { patchOf } from './node-patch.ts';
import { isUninitialized } from './taints.ts';

const IDLE: Readonly<Record<IdleReason, string>> = {
  'being-deleted': 'Nothing: the node is being deleted.',
  foreign: "Nothing: its provider ID is another provider's.",
  unmanaged: 'Nothing: it is a node without a machine in the cloud (--unmanaged-nodes).',
  'not-ours': 'Nothing: it has neither the taint nor a provider ID of this cloud, so it is not one of its nodes.',
  'implemented-elsewhere': 'Nothing: the provider reports that another controller manages it.',
  'cloud-says-nothing': 'Nothing: it is initialized, and the last look-up did not find its machine.',
  'up-to-date': 'Nothing: it is initialized and matches the cloud; its addresses are reconciled periodically.',
};

/** The writes of a plan; what is only told is none. */
export function notedWrites(actions: readonly NodeAction[]): readonly NotedAction[] {
  return actions.flatMap((action) =>
    action.kind === 'event' ? [] : [{ kind: action.kind, summary: wordsOf(action) }],
  );
}

/** The same, with what is written. */
export function plannedWrites(node: Node, actions: readonly NodeAction[]): readonly NotedAction[] {
  return actions.flatMap((action) =>
    notedWrites([action]).map((noted) => ({ ...noted, write: { object: node, patch: patchOf(node, action) } })),
  );
}

function wordsOf(action: Exclude<NodeAction, TellEvent>): string {
  if (action.kind === 'tag-machine') return `put the tags ${listOf(action.tags)} on its machine`;
  const parts: string[] = [];
  if (action.kind === 'patch-status') {
    const { addresses, conditions = [] } = action;
    if (addresses) parts.push(`set its addresses: ${addresses.map((one) => `${one.type} ${one.address}`).join(', ')}`);
    for (const { type, status, reason } of conditions) parts.push(`set its condition ${type} to ${status} (${reason})`);
  } else {
    const labels = listOf({ ...action.addLabels, ...action.setLabels });
    if (action.providerID !== undefined) parts.push(`set its provider ID to ${action.providerID}`);
    if (labels) parts.push(`set its labels ${labels}`);
    const annotations = listOf(action.setAnnotations ?? {});
    if (annotations) parts.push(`set its annotations ${annotations}`);
    if (action.removeTaint) parts.push('remove the uninitialized taint');
  }
  return parts.join('; ');
}

function listOf(texts: LabelSet): string {
  return Object.entries(texts)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ');
}

/** `inMs`: when the cloud will be asked again, if it waits for that. */
export function factsOfNodePlan(plan: NodePlan, inMs: number | undefined): readonly Fact[] {
  const later = inMs === undefined ? {} : { inMs };
  switch (plan.kind) {
    case 'nothing':
      return [{ text: IDLE[plan.reason] }];
    case 'look-up':
      return [{ text: 'Look its machine up in the cloud.', ...later }];
    case 'wait':
      return [{ text: plan.note.message }, { text: 'Look it up in the cloud again.', ...later }];
    default:
      return plan.actions.map((action) =>
        action.kind === 'event'
          ? { text: `Record an Event: ${action.note.message}` }
          : { text: `${capital(wordsOf(action))}.` },
      );
  }
}

/** `wallNow`: milliseconds since the Unix epoch. */
export function factsOfNode(node: Node, wallNow: number): readonly Fact[] {
  const created = Date.parse(node.metadata?.creationTimestamp ?? '');
  const ready = node.status?.conditions?.find(({ type }) => type === 'Ready');
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  const waits = isUninitialized(node) ? 'has the uninitialized taint' : 'is initialized';
  const { providerID } = node.spec ?? {};
  return [
    { text: 'The node was registered.', ...(Number.isNaN(created) ? {} : { agoMs: Math.max(0, wallNow - created) }) },
    { text: `It ${waits}; its provider ID is ${providerID ? providerID : 'not set'}.` },
    {
      text: ready
        ? `Its condition Ready became ${ready.status}.`
        : 'It has no condition Ready, which counts as Unknown.',
      ...(Number.isNaN(since) ? {} : { agoMs: Math.max(0, wallNow - since) }),
    },
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
