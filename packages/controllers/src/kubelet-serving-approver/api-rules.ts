/** What the approver of kubelet serving certificates asks of the API server. */
import { eventRule, resources, storeRule, type ApiRule } from '@outrigger/kube';
import { SERVING_SIGNER } from './serving-signer.ts';

const { certificateSigningRequests, nodes } = resources;

/** `approve` names the one signer: without it, a change of the subresource is refused for every other. */
export const kubeletServingApproverRules: readonly ApiRule[] = [
  storeRule(certificateSigningRequests),
  { resource: certificateSigningRequests, subresource: 'approval', verbs: ['patch'] },
  {
    resource: { group: certificateSigningRequests.group, plural: 'signers' },
    verbs: ['approve'],
    names: [SERVING_SIGNER],
  },
  storeRule(nodes),
  eventRule('default'),
];
