/** What the page of annotations says of each beside the table. */
import type { AnnotationKey } from '../../providers/aws/src/load-balancer/annotations/annotation-rows.ts';

export interface AnnotationNote {
  readonly for: 'both' | 'NLB' | 'CLB';
  /** The first release of cloud-provider-aws that reads it. */
  readonly since: '1.18' | '1.20' | '1.21' | '1.34' | '1.35';
  /** How it differs from cloud-provider-aws. Default: served as there. */
  readonly differs?: string;
}

const FOLLOWS = 'A change is followed; upstream looks at it when the load balancer is made.';
const KEPT = 'One that is added or changed later is refused; upstream looks at it when the load balancer is made.';
const BOUNDED = 'Only one that the cluster or the namespace is allowed: see below.';

export const annotationNotes: Readonly<Record<AnnotationKey, AnnotationNote>> = {
  type: {
    for: 'both',
    since: '1.18',
    differs: 'A change makes the other kind, and removes the first when that one serves. Upstream refuses it.',
  },
  internal: { for: 'both', since: '1.18', differs: 'A change makes another load balancer. Upstream ignores it.' },
  subnets: { for: 'both', since: '1.21', differs: `${FOLLOWS} ${BOUNDED}` },
  eipAllocations: { for: 'NLB', since: '1.20', differs: `${KEPT} ${BOUNDED}` },
  privateAddresses: { for: 'NLB', since: '1.35', differs: KEPT },
  tags: {
    for: 'both',
    since: '1.18',
    differs: `${FOLLOWS} One that is left out goes. Tags that say whose something is are refused.`,
  },
  nodeLabels: { for: 'both', since: '1.20' },
  securityGroups: {
    for: 'both',
    since: '1.18',
    differs: `Of an NLB whatever \`NLBSecurityGroupMode\` says. The shared back-end group stands beside them. ${BOUNDED}`,
  },
  extraSecurityGroups: { for: 'both', since: '1.18', differs: `Of an NLB too. ${BOUNDED}` },
  certificate: {
    for: 'both',
    since: '1.18',
    differs: 'What is no ARN of a certificate is refused before AWS is asked.',
  },
  tlsPorts: { for: 'both', since: '1.18' },
  tlsPolicy: { for: 'both', since: '1.18' },
  backendProtocol: {
    for: 'both',
    since: '1.18',
    differs: 'An unknown word is ignored with an Event, with `ssl-cert` too, where upstream refuses it.',
  },
  crossZone: { for: 'both', since: '1.18' },
  accessLog: { for: 'both', since: '1.18', differs: 'Without a bucket it is refused before AWS is asked.' },
  accessLogBucket: { for: 'both', since: '1.18' },
  accessLogPrefix: { for: 'both', since: '1.18' },
  accessLogInterval: { for: 'CLB', since: '1.18' },
  draining: { for: 'CLB', since: '1.18' },
  drainingTimeout: { for: 'CLB', since: '1.18' },
  idleTimeout: { for: 'CLB', since: '1.18' },
  proxyProtocol: { for: 'CLB', since: '1.18' },
  targetGroupAttributes: {
    for: 'NLB',
    since: '1.34',
    differs:
      'More attributes than the two of upstream: deregistration delay, stickiness, cross-zone. What is left out is set back to the default of AWS.',
  },
  healthProtocol: { for: 'both', since: '1.20' },
  healthPort: { for: 'both', since: '1.20' },
  healthPath: { for: 'both', since: '1.20' },
  healthyThreshold: { for: 'both', since: '1.18' },
  unhealthyThreshold: { for: 'both', since: '1.18' },
  healthTimeout: { for: 'both', since: '1.18', differs: 'Of an NLB it is sent; upstream leaves it out.' },
  healthInterval: { for: 'both', since: '1.18' },
};
