/** The patches of a Service. All go to `services/status`, as upstream's do: the program needs no right to change a spec. Pure. */
import { loadBalancerOwnerAnnotation, type LoadBalancerIngress } from '@outrigger/cloud-provider';
import type { Condition, Patch, Service } from '@outrigger/kube';
import { apiTime } from '../api-time.ts';
import { adoptCondition } from './adoption.ts';
import { ingressOf } from './load-balancer-service.ts';
import { withoutRecords } from './parts-record.ts';
import { cleanupFinalizer, portsErrorCondition, readyCondition } from './well-known-names.ts';

/**
 * Says whose the load balancer is, and keeps the Service until it is gone. Fails (409) where the Service is not as it was judged
 * by: it may be of another class by now, and have its owner.
 */
export function recordPatch(service: Service, providerName: string): Patch {
  const { resourceVersion } = service.metadata ?? {};
  return patchOf(service, {
    metadata: {
      finalizers: [cleanupFinalizer],
      // What a copy of another Service brought along is not about this one.
      annotations: { [loadBalancerOwnerAnnotation]: providerName, ...withoutRecords(service) },
      ...(resourceVersion && { resourceVersion }),
    },
  });
}

/** The Service as it will be after `recordPatch`: for plans that are not carried out. */
export function asRecorded(service: Service, providerName: string): Service {
  const { annotations, finalizers = [], ...metadata } = service.metadata ?? {};
  return {
    ...service,
    metadata: {
      ...metadata,
      annotations: { ...annotations, [loadBalancerOwnerAnnotation]: providerName },
      finalizers: [...finalizers.filter((one) => one !== cleanupFinalizer), cleanupFinalizer],
    },
  };
}

/** What of the status is about this load balancer alone. */
const ownConditions: ReadonlySet<string> = new Set([adoptCondition, portsErrorCondition, readyCondition]);

/**
 * Lets the Service go: no finalizer, no owner, no address, in one step. `undefined` when all that is so already. One that asks for
 * a load balancer of another class may have the addresses of that one's controller by now: of it only `written` is taken away,
 * what this process wrote last, and only while the Service is as it was judged by (409 otherwise).
 */
export function letGoPatch(service: Service, written?: readonly LoadBalancerIngress[]): Patch | undefined {
  const { metadata = {}, spec, status = {} } = service;
  const isServedByOther = spec?.type === 'LoadBalancer' && metadata.deletionTimestamp === undefined;
  const ingress = ingressOf(service);
  const isIngressOurs = !isServedByOther || (written !== undefined && sameIngress(ingress, written));
  const conditions = (status.conditions ?? []).filter(({ type }) => ownConditions.has(type));
  const isOwned = metadata.annotations?.[loadBalancerOwnerAnnotation] !== undefined;
  const annotations = { ...(isOwned && { [loadBalancerOwnerAnnotation]: null }), ...withoutRecords(service) };
  const cleared = {
    ...(metadata.finalizers?.includes(cleanupFinalizer) && {
      '$deleteFromPrimitiveList/finalizers': [cleanupFinalizer],
    }),
    ...(Object.keys(annotations).length > 0 && { annotations }),
  };
  const newStatus = {
    ...(ingress.length > 0 && isIngressOurs && { loadBalancer: { ingress: null } }),
    ...(conditions.length > 0 && { conditions: conditions.map(({ type }) => ({ type, $patch: 'delete' })) }),
  };
  if (Object.keys(cleared).length + Object.keys(newStatus).length === 0) return undefined;
  const { resourceVersion } = metadata;
  const unchanged = isServedByOther && resourceVersion ? { resourceVersion } : {};
  return patchOf(service, { metadata: { ...cleared, ...unchanged }, status: newStatus });
}

export interface ServedStatus {
  readonly ingress: readonly LoadBalancerIngress[];
  /** `null`: remove. */
  readonly annotations?: Readonly<Record<string, string | null>> | undefined;
  /** Wall clock, milliseconds since the epoch. */
  readonly now: number;
}

/** The addresses, the condition about ports, and the provider's annotations. `undefined` when all that is so already. */
export function servedPatch(service: Service, { ingress, annotations = {}, now }: ServedStatus): Patch | undefined {
  const changed = changedOf(service, annotations);
  const condition = portsCondition(service, ingress, now);
  const sameStatus = sameIngress(ingressOf(service), ingress);
  if (changed.length === 0 && !condition && sameStatus) return undefined;
  return patchOf(service, {
    ...(changed.length > 0 && { metadata: { annotations: Object.fromEntries(changed) } }),
    status: {
      ...(!sameStatus && { loadBalancer: { ingress: ingress.length > 0 ? ingress.map(asStored) : null } }),
      ...(condition && { conditions: [condition] }),
    },
  });
}

/** These alone; `undefined` when it has them. */
export function annotationsPatch(
  service: Service,
  annotations: NonNullable<ServedStatus['annotations']>,
): Patch | undefined {
  const changed = changedOf(service, annotations);
  return changed.length > 0 ? patchOf(service, { metadata: { annotations: Object.fromEntries(changed) } }) : undefined;
}

function changedOf(
  { metadata: { annotations: current = {} } = {} }: Service,
  wanted: NonNullable<ServedStatus['annotations']>,
): readonly (readonly [string, string | null])[] {
  return Object.entries(wanted).filter(([name, value]) => (current[name] ?? null) !== value);
}

/**
 * Other addresses alone. Fails (422) where the Service has others than it was judged by, and not where anything else of it was written since:
 * a tenant that writes it all the time would keep them.
 */
export function ingressPatch(service: Service, ingress: readonly LoadBalancerIngress[]): Patch {
  return {
    type: 'json',
    operations: [
      { op: 'test', path: '/metadata/uid', value: service.metadata?.uid },
      { op: 'test', path: '/status/loadBalancer', value: service.status?.loadBalancer ?? {} },
      { op: 'add', path: '/status/loadBalancer/ingress', value: ingress.map(asStored) },
    ],
  };
}

/** The order means something: many clients take the first address. */
export function sameIngress(a: readonly LoadBalancerIngress[], b: readonly LoadBalancerIngress[]): boolean {
  return ingressText(a) === ingressText(b);
}

/** The same text for what means the same. */
export function ingressText(ingress: readonly LoadBalancerIngress[]): string {
  return JSON.stringify(ingress.map(asStored));
}

/** As the API server keeps it, in one order of members: `ipMode` is filled in where there is an IP. */
function asStored({ ip, hostname, ipMode, ports }: LoadBalancerIngress): Ingress {
  return {
    ...(ip ? { ip } : {}),
    ...(hostname ? { hostname } : {}),
    ...(ip ? { ipMode: ipMode ?? 'VIP' } : {}),
    ...(ports?.length
      ? { ports: ports.map(({ port, protocol, error }) => ({ port, protocol, ...(error ? { error } : {}) })) }
      : {}),
  };
}

type Ingress = NonNullable<NonNullable<NonNullable<Service['status']>['loadBalancer']>['ingress']>[number];

/** True while a port has an error; False once it has none any more; never there for a Service whose ports were always served. */
function portsCondition(service: Service, ingress: readonly LoadBalancerIngress[], now: number): Condition | undefined {
  const errors = new Map(
    ingress.flatMap(({ ports = [] }) =>
      ports.flatMap(({ port, protocol, error }) => (error ? [[`${protocol} ${port}`, error] as const] : [])),
    ),
  );
  const before = service.status?.conditions?.find(({ type }) => type === portsErrorCondition);
  if (errors.size === 0 && !before) return undefined;
  const status = errors.size > 0 ? 'True' : 'False';
  const [first = ''] = errors.values();
  // A condition's reason has a stricter form than a port's error, which may carry a domain.
  const reason = errors.size === 0 ? 'PortsServed' : first.replace(/^.*\//, '').replaceAll(/[^A-Za-z0-9_]/g, '');
  const message = Array.from(errors, ([port, error]) => `${port}: ${error}`).join(', ');
  if (before?.status === status && before.reason === reason && before.message === message) return undefined;
  const time = apiTime(now);
  return {
    type: portsErrorCondition,
    status,
    reason: reason || 'PortError',
    message,
    observedGeneration: service.metadata?.generation ?? 0,
    lastTransitionTime: before?.status === status ? before.lastTransitionTime : time,
  };
}

/** The UID makes it fail for another Service of the same name. */
export function patchOf(service: Service, body: { readonly metadata?: object; readonly status?: object }): Patch {
  return { type: 'strategic', body: { ...body, metadata: { ...body.metadata, uid: service.metadata?.uid } } };
}
