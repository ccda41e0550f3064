/** The plan for a node that is initialised and about which the cloud has just been asked again. Pure. */
import type { Instance } from '@outrigger/cloud-provider';
import type { EventNote, Node } from '@outrigger/kube';
import type { NodeAction, NodePlan } from './actions.ts';
import { sameAddresses, wantedAddresses } from './addresses.ts';
import { newAnnotations } from './annotations.ts';
import { laterLabels } from './labels.ts';
import type { MaintenancePlan } from './maintenance.ts';
import { isUninitialized } from './taints.ts';
import { twinsOf } from './twins.ts';

/** Addresses and the provider's annotations follow the cloud; missing labels are added; nothing else changes, and nothing is written that is there already. */
export function planRefresh(
  node: Node,
  instance: Instance,
  sameMachine: readonly Node[] = [],
  maintenance: MaintenancePlan = { conditions: [], notes: [] },
): NodePlan {
  const actions: NodeAction[] = [];
  const name = node.metadata?.name ?? '';

  const wanted = wantedAddresses(node, instance.addresses);
  const isMoved = wanted.kind === 'known' && !sameAddresses(node.status?.addresses ?? [], wanted.addresses);
  const { conditions } = maintenance;
  if (isMoved || conditions.length > 0) {
    actions.push({
      kind: 'patch-status',
      ...(isMoved && { addresses: wanted.addresses }),
      ...(conditions.length > 0 && { conditions }),
    });
  }

  const labels = laterLabels(node.metadata?.labels ?? {}, instance);
  const annotations = newAnnotations(node, instance);
  if (Object.keys(labels.set).length > 0 || Object.keys(labels.addMissing).length > 0 || annotations.setAnnotations) {
    const { addMissing: addLabels, set: setLabels } = labels;
    actions.push({ kind: 'patch-object', setLabels, addLabels, ...annotations, removeTaint: false });
  }

  // A cloud that gives no addresses today says nothing; only what it says against the kubelet is worth a person's time.
  if (wanted.kind === 'refused' && instance.addresses?.length) {
    const message = `The kubelet's --node-ip of node ${name} cannot be used: ${wanted.problem}. The addresses stay as they are; correct --node-ip, or the addresses in the cloud.`;
    actions.push({ kind: 'event', note: { type: 'Warning', reason: 'ProvidedNodeIPNotFound', message } });
  }
  if (labels.differences.length > 0) {
    const list = labels.differences.map(({ key, node, cloud }) => `${key} is ${node}, in the cloud ${cloud}`);
    const message = `Labels of node ${name} differ from the cloud and stay as they are: ${list.join('; ')}. Correct the label, or remove it to have it set.`;
    actions.push({
      kind: 'event',
      note: { type: 'Warning', reason: 'LabelsDiffer', message },
      differences: labels.differences,
    });
  }
  const twins = twinsOf(node, sameMachine)
    .filter((one) => !isUninitialized(one))
    .map(({ metadata }) => metadata?.name ?? '');
  if (twins.length > 0) {
    const message = `Node ${name} and ${twins.toSorted().join(', ')} belong to the same machine by their provider IDs, and are initialized. Delete those that are not that machine, and find out who registered them.`;
    actions.push({ kind: 'event', note: { type: 'Warning', reason: 'DuplicateProviderID', message } });
  }
  actions.push(...maintenance.notes.map((note) => ({ kind: 'event', note }) as const));
  if (labels.invalid.length > 0) actions.push({ kind: 'event', note: invalidLabelsNote(name, labels.invalid) });

  actions.push(...tagMachine(instance));
  return actions.length > 0 ? { kind: 'act', actions } : { kind: 'nothing', reason: 'up-to-date' };
}

export function tagMachine({ missingTags: tags = {}, providerID }: Instance): readonly NodeAction[] {
  return Object.keys(tags).length > 0 ? [{ kind: 'tag-machine', providerID, tags }] : [];
}

export function invalidLabelsNote(name: string, invalid: readonly string[]): EventNote {
  return {
    type: 'Warning',
    reason: 'InvalidLabels',
    message: `The cloud returned labels for node ${name} that Kubernetes does not accept; they are not set: ${invalid.join(', ')}. Rename them in the cloud.`,
  };
}
