/** From a Service to what a cloud needs to know of it. Pure. */
import {
  ANNOTATION_LENGTH,
  canonicalAddress,
  CloudError,
  NAME_LENGTH,
  refuseLonger,
  type IPFamily,
  type LoadBalancerIngress,
  type LoadBalancerService,
  type ServiceAnnotation,
} from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import { boundedAnnotations } from '../bounded-annotations.ts';
import { shareWithAnnotation } from '../load-balancer/tenancy.ts';
import { adoptCondition, adoptedBy, MOST_ADOPTED } from './adoption.ts';
import { sourceRangesOf } from './source-ranges.ts';
import { cleanupFinalizer, missingSinceAnnotation, partsAnnotation } from './well-known-names.ts';

/** Each costs a look, a plan and a line of text; clouds take fewer. */
const MOST_PORTS = 1_000;
/** Three hours, as the API server fills it in. */
const AFFINITY_SECONDS = 10_800;

/**
 * Defaults are filled in, as the API server does. `read`: the annotations that its provider reads. Throws a `CloudError` `invalid`
 * for source ranges that are none, for texts that are longer than they may be, and for more ports or names than are looked at.
 */
export function loadBalancerServiceOf(service: Service, read: readonly ServiceAnnotation[] = []): LoadBalancerService {
  const invitation = { name: shareWithAnnotation, maxLength: ANNOTATION_LENGTH };
  for (const { name, maxLength = NAME_LENGTH } of [...read, invitation]) {
    refuseLonger(`annotation ${name}`, service.metadata?.annotations?.[name] ?? '', maxLength);
  }
  refuseLonger('spec.loadBalancerIP', service.spec?.loadBalancerIP ?? '');
  const identity = identityOf(service);
  if (identity.ports.length > MOST_PORTS) {
    throw new CloudError('invalid', `spec.ports has more than ${MOST_PORTS} ports; use several Services`);
  }
  if ((identity.adopt ?? []).length > MOST_ADOPTED) {
    throw new CloudError('invalid', `the condition ${adoptCondition} names more than ${MOST_ADOPTED} parts`);
  }
  return { ...identity, sourceRanges: sourceRangesOf(service) };
}

/** By the object, which is never changed: the same one is asked about in each step, and by what was selected for it. */
const known = new WeakMap<Service, LoadBalancerService>();

/** The same, for a Service that is only to be cleaned up: its source ranges do not matter, and may be wrong. */
export function identityOf(service: Service): LoadBalancerService {
  const identity = known.get(service) ?? readIdentity(service);
  known.set(service, identity);
  return identity;
}

function readIdentity(service: Service): LoadBalancerService {
  const { metadata = {}, spec = {} } = service;
  const adopt = adoptedBy(service);
  const finalizers = (metadata.finalizers ?? []).filter((one) => one !== cleanupFinalizer).toSorted();
  const families = (spec.ipFamilies ?? []).filter((family): family is IPFamily => family !== '');
  const affinity =
    spec.sessionAffinity === 'ClientIP'
      ? (spec.sessionAffinityConfig?.clientIP?.timeoutSeconds ?? AFFINITY_SECONDS)
      : undefined;
  return {
    uid: metadata.uid ?? '',
    namespace: metadata.namespace ?? '',
    name: metadata.name ?? '',
    labels: metadata.labels ?? {},
    annotations: withoutBookkeeping(boundedAnnotations(metadata.annotations)),
    ...(finalizers.length > 0 ? { finalizers } : {}),
    // One more than may be: that it has too many is seen, and that it has fewer is a change.
    ports: (spec.ports ?? []).slice(0, MOST_PORTS + 1).map(({ name, port, protocol, nodePort, appProtocol }) => ({
      name: name ?? '',
      port,
      protocol: protocol ?? 'TCP',
      ...(nodePort ? { nodePort } : {}),
      ...(appProtocol === undefined ? {} : { appProtocol }),
    })),
    ipFamilies: families.length > 0 ? families : ['IPv4'],
    ipFamilyPolicy: spec.ipFamilyPolicy ?? 'SingleStack',
    externalTrafficPolicy: spec.externalTrafficPolicy ?? 'Cluster',
    ...(spec.externalTrafficPolicy === 'Local' && spec.healthCheckNodePort
      ? { healthCheckNodePort: spec.healthCheckNodePort }
      : {}),
    ...(affinity === undefined ? {} : { clientIPAffinitySeconds: affinity }),
    sourceRanges: [],
    ...(spec.loadBalancerIP ? { requestedIP: spec.loadBalancerIP.slice(0, NAME_LENGTH) } : {}),
    ...(spec.loadBalancerClass === undefined ? {} : { loadBalancerClass: spec.loadBalancerClass }),
    ingress: ingressOf(service),
    ...(adopt.length > 0 ? { adopt } : {}),
  };
}

/** What the host keeps for itself concerns no cloud: a change of it is none of the load balancer. */
function withoutBookkeeping(annotations: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const { [partsAnnotation]: _, [missingSinceAnnotation]: __, ...others } = annotations;
  return others;
}

/** The addresses whose traffic its status draws to it, in canonical form. */
export const ipsOf = (service: Service): readonly string[] => addressesIn(ingressOf(service));

export const addressesIn = (ingress: readonly LoadBalancerIngress[]): readonly string[] =>
  ingress.flatMap(({ ip }) => (ip ? [canonicalAddress(ip)] : []));

/** `status.loadBalancer.ingress` as it is now. */
export function ingressOf({ status }: Service): readonly LoadBalancerIngress[] {
  return (status?.loadBalancer?.ingress ?? []) as readonly LoadBalancerIngress[];
}
