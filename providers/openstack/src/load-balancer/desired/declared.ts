/** What the provider declares of its load balancers, and answers without having asked the cloud. */
import {
  type BackEnd,
  type LoadBalancerFeatures,
  type LoadBalancerPart,
  type LoadBalancerService,
  type ServiceAnnotation,
} from '@outrigger/cloud-provider';
import type { LoadBalancerConfig } from '../../config/cloud-config.ts';
import type { PartKind } from '../observed-tree.ts';
import { annotationTable, type AnnotationRow } from './annotation-table.ts';
import { selectNodes } from './node-selector.ts';

type Annotated = Pick<LoadBalancerService, 'annotations' | 'uid'>;

/** By the config alone: what this cloud's Octavia has not (`octaviaFeatures`) is refused when a Service asks for it. */
export function declaredFeatures(
  config: Pick<LoadBalancerConfig, 'lbProvider' | 'manageSecurityGroups'>,
): LoadBalancerFeatures {
  return {
    protocols: ['TCP', 'UDP', 'SCTP'],
    mixedProtocols: true,
    ipFamilies: ['IPv4', 'IPv6'],
    dualStack: true,
    sessionAffinity: true,
    externalTrafficPolicyLocal: true,
    sourceRanges: config.lbProvider !== 'ovn' || config.manageSecurityGroups,
    // Members are node ports.
    withoutNodePorts: false,
    requestedIP: true,
  };
}

const rows: readonly AnnotationRow[] = Object.values(annotationTable);

export const declaredAnnotations: readonly ServiceAnnotation[] = rows
  .filter(({ written }) => !written)
  .map(({ name, dangerous, description, values, maxLength }) => ({
    name,
    description,
    values: values === 'uuid' ? 'string' : values,
    ...(dangerous !== undefined && { dangerous }),
    ...(maxLength !== undefined && { maxLength }),
  }));

/** Whose lock is taken where there are both: others are at work on what is shared. */
const LOAD_BALANCERS: readonly PartKind[] = ['shared-load-balancer', 'load-balancer'];

/**
 * Services of one load balancer wait for one another: a load balancer takes one change at a time, and its tags are all theirs. `parts`: what the
 * Service may change; the one that it names is among them, or nothing is done to it.
 */
export function lockKeyOf({ annotations, uid }: Annotated, parts?: readonly LoadBalancerPart[]): string {
  const named = annotations[annotationTable.loadBalancerId.name]?.toLowerCase();
  if (!parts) return named || uid;
  const all = LOAD_BALANCERS.flatMap((one) => parts.filter(({ kind }) => kind === one));
  return (all.find(({ id }) => id === named) ?? all[0])?.id ?? uid;
}

/** By the node selector alone: Octavia balances to addresses, whoever runs the machine. */
export function selectBackEnds(
  { annotations }: Annotated,
  backEnds: readonly BackEnd[],
  { nodeSelector }: Pick<LoadBalancerConfig, 'nodeSelector'>,
): readonly BackEnd[] {
  return selectNodes(annotations[annotationTable.nodeSelector.name] ?? nodeSelector ?? '', backEnds);
}

/**
 * Whether its floating IP outlives a Service. Also of one whose annotations are refused: nothing keeps a Service from going. What
 * is neither true nor false keeps it, as an address that was given up does not come back.
 */
export function keepsFloatingIP({ annotations }: Annotated): boolean {
  return !['', 'false', undefined].includes(annotations[annotationTable.keepFloatingIP.name]);
}
