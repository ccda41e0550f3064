/** What people are told about requests for serving certificates. Pure. */
import { quote } from '@outrigger/cloud-provider';
import type { DatedAnswer } from '@outrigger/cloud-runtime';
import type { CertificateSigningRequest, Node } from '@outrigger/kube';
import { factOfAnswer } from '../answer-words.ts';
import type { Fact } from '../finding.ts';
import { factOfAction, type ActionState } from '../planned-action.ts';
import type { ServingPlan } from './plan.ts';
import type { ServingRequest } from './serving-request.ts';

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

const IDLE: Readonly<Record<Extract<ServingPlan, { kind: 'nothing' }>['reason'], string>> = {
  decided: 'Nothing: it has been decided on, or is being deleted.',
  'too-old': 'Nothing: it is older than an hour; its kubelet has made another one since.',
  'not-a-kubelet': 'Nothing: who requests it is not a kubelet.',
  'another-provider': "Nothing: its node is another provider's.",
  unmanaged: 'Nothing: its node is one without a machine in the cloud (--unmanaged-nodes).',
};

export interface SeenRequest {
  /** The one of that name. */
  readonly node: Node | undefined;
  /** What the cloud said of its machine last. */
  readonly answer: DatedAnswer | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly wallNow: number;
  /** Monotonic, as the answer is. */
  readonly now: number;
}

export function factsOfRequest(
  { metadata, spec, status }: CertificateSigningRequest,
  asked: ServingRequest,
  { answer, node, now, wallNow }: SeenRequest,
): readonly Fact[] {
  const created = Date.parse(metadata?.creationTimestamp ?? '');
  const providerID = node?.spec?.providerID;
  return [
    {
      text: `It was requested by ${quote(spec.username ?? '')}.`,
      ...(created <= wallNow && { agoMs: wallNow - created }),
    },
    ...(asked.kind === 'well-formed'
      ? [{ text: `It is for ${[...asked.dnsNames, ...asked.ips].map(quote).join(', ')}.` }]
      : []),
    ...(node
      ? [{ text: `Its node has ${providerID ? `the provider ID ${quote(providerID)}` : 'no provider ID'}.` }]
      : []),
    ...(answer ? [factOfAnswer(answer, now, 'Direct read')] : []),
    ...(status?.conditions ?? []).map(({ message, reason, type }) => ({
      text: `It is ${type}${reason ? ` (${reason})` : ''}: ${(message ?? '').replace(/\.$/u, '') || 'no message'}.`,
    })),
    ...(status?.certificate ? [{ text: 'Its certificate has been issued.' }] : []),
  ];
}

/** `problem`: why it stays pending, as the last look found. */
export function factsOfServingPlan(
  plan: ServingPlan,
  { problem, state }: { readonly problem: string | undefined; readonly state: ActionState },
): readonly Fact[] {
  if (plan.kind === 'nothing') return [{ text: IDLE[plan.reason] }];
  if (plan.kind === 'approve' || plan.kind === 'deny') return [factOfAction(decisionText(plan).summary, state)];
  const why = plan.kind === 'wait' ? plan.problem : problem;
  return [
    ...(why === undefined ? [] : [{ text: `It stays pending: ${why}.` }]),
    factOfAction(plan.kind === 'wait' ? 'look at it again' : 'read its machine in the cloud', state),
  ];
}
