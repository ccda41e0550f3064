/** The nodes of machines that a provider hints have changed. Pure. */
import type { HintedMachines } from '@outrigger/cloud-runtime';
import type { Node } from '@outrigger/kube';

export function hintedNodes(nodes: Iterable<Node>, { all, names, providerIDs }: HintedMachines): readonly Node[] {
  return [...nodes].filter(
    ({ metadata, spec }) => all || names.has(metadata?.name ?? '') || providerIDs.has(spec?.providerID ?? ''),
  );
}
