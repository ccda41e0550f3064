/** What people are told about requests for serving certificates. Pure. */
import { quote } from '@outrigger/cloud-provider';
import type { ServingPlan } from './plan.ts';

export interface DecisionText {
  /** Of the condition, as are `reason` and `message`. */
  readonly type: 'Approved' | 'Denied';
  readonly reason: string;
  readonly message: string;
  /** Of the action, a clause without a subject. */
  readonly summary: string;
}

export function decisionText(plan: Extract<ServingPlan, { kind: 'approve' | 'deny' }>): DecisionText {
  if (plan.kind === 'approve') {
    return {
      type: 'Approved',
      reason: 'ConfirmedByCloud',
      message: `The cloud gives each of its names and addresses for machine ${quote(plan.providerID)}.`,
      summary: `approve it: the cloud gives each of its names and addresses for machine ${quote(plan.providerID)}`,
    };
  }
  return {
    type: 'Denied',
    reason: plan.reason === 'foreign-name' ? 'RefusedByCloud' : 'NotOfAKubelet',
    message: `Denied by kubelet-serving-approver: ${plan.problem}.`,
    summary: `deny it: ${plan.problem}`,
  };
}

export function waitingText(request: string, problem: string): string {
  return `Certificate signing request ${request} of the kubelet stays pending: ${problem}. It is looked at again for an hour.`;
}
