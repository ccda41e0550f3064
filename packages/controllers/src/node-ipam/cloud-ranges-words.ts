/** What is known and planned about the ranges of one node, in sentences. Pure. */
import type { Node } from '@outrigger/kube';
import type { Fact, Finding } from '../finding.ts';
import { podCidrsOf } from '../pod-cidrs.ts';
import { summaryOf, type CloudRangesPlan } from './cloud-ranges-plan.ts';

export interface RangesFound {
  readonly node: Node;
  /** Ranges of its machine, as last heard. */
  readonly found: readonly string[] | undefined;
  readonly answered: Fact | undefined;
  readonly plan: CloudRangesPlan;
  /** For so long nothing is written, as somebody else allocates. */
  readonly refusesMs: number;
}

export function findingOfRanges({ answered, found, node, plan, refusesMs }: RangesFound): Finding {
  const has = podCidrsOf(node);
  return {
    controller: 'node-ipam-controller',
    about: [node.metadata?.uid ?? ''],
    observed: [
      { text: has.length > 0 ? `It has the pod CIDRs ${has.join(', ')}.` : 'It has no pod CIDR.' },
      ...(answered ? [answered] : []),
      ...(found ? [{ text: `Its machine has the pod CIDRs ${found.join(', ') || '(none)'}.` }] : []),
    ],
    planned: plannedFacts(plan, has.length === 0 ? refusesMs : 0),
  };
}

function plannedFacts({ actions, problem }: CloudRangesPlan, refusesMs: number): readonly Fact[] {
  if (refusesMs > 0) return [{ text: 'Nothing while another component allocates pod CIDRs.', inMs: refusesMs }];
  if (actions.length > 0) return actions.map((action) => ({ text: `${summaryOf(action)}.` }));
  return [{ text: problem ? `Nothing: ${problem.message}` : 'Nothing.' }];
}
