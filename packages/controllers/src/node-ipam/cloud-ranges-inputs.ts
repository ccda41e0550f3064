/** What of a node, and of the cloud's answer about it, decides about its ranges. Pure. */
import type { InstanceAnswer } from '@outrigger/cloud-provider';
import type { Node } from '@outrigger/kube';
import { podCidrsOf } from '../pod-cidrs.ts';
import { hasRouteCondition } from '../route/network-condition.ts';

/** Of its machine; `undefined`: not known. */
export function rangesIn(answer: InstanceAnswer | undefined): readonly string[] | undefined {
  return answer?.result.kind === 'found' ? answer.result.instance.podCidrs : undefined;
}

/** Compared with what they were: a heartbeat changes none of them. */
export function inputsOf(node: Node): string {
  const { metadata, spec } = node;
  return [spec?.providerID, metadata?.deletionTimestamp, hasRouteCondition(node, true), ...podCidrsOf(node)].join(' ');
}
