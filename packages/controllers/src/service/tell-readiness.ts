/** Writes what a Service says of itself: with what is written anyway, and else once, when a pass ends. Pure. */
import type { Patch, Service } from '@outrigger/kube';
import { answeredCondition } from './adoption.ts';
import { needsNone, readyConditionFor, readyConditionOf, REFUSED, type Readiness } from './readiness.ts';
import { hasFinalizer, roleOf, type RoleOptions } from './role.ts';
import { patchOf } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { statusAction } from './service-words.ts';
import type { Step, Surroundings, Write } from './step-types.ts';
import { readyCondition } from './well-known-names.ts';

/**
 * The same patch, or one of its own, with the conditions. `undefined`: there is nothing to write. An answer is about the request that was
 * seen: where another was made since, the patch fails (409).
 */
export function saying<P extends Patch | undefined>(
  patch: P,
  { adoption, readiness }: Pick<ServiceState, 'adoption' | 'readiness'>,
  { rules, service, wallNow }: Surroundings,
): P | Patch {
  const redacted = (said: Readiness): Readiness => ({ ...said, message: rules.redact(said.message) });
  const isSilent = !patch && readiness && needsNone(service, readiness);
  const ready = readiness && !isSilent ? readyConditionFor(service, redacted(readiness), wallNow) : undefined;
  const answer = adoption && answeredCondition(service, redacted(adoption));
  const said = [ready, answer].filter((one) => one !== undefined);
  if (said.length === 0) return patch;
  const { metadata, status, ...body } = (patch && 'body' in patch ? patch.body : {}) as Service;
  const { resourceVersion } = service.metadata ?? {};
  return patchOf(service, {
    ...body,
    metadata: { ...metadata, ...(answer && resourceVersion && { resourceVersion }) },
    status: { ...status, conditions: [...(status?.conditions ?? []), ...said] },
  });
}

/** At the end of a pass. One that goes on with a look is in the midst of things: what it is about to say is not yet known. */
export function tellReadiness(step: Step, at: Surroundings): Step {
  const { next, state } = step;
  if (
    at.rules.dryRun ||
    roleOf(at.service, at.rules.options) === 'leave' ||
    !state ||
    state.leftover ||
    (next.kind !== 'wake' && next.kind !== 'rest')
  )
    return step;
  const patch = saying(undefined, state, at);
  const write = { purpose: 'condition', action: statusAction, afterwards: next } as const;
  return patch ? { ...step, next: { kind: 'write', write: { ...write, patch } } } : step;
}

/**
 * Of one that was refused before it was recorded, and asks for no load balancer any more: what it says is taken away. The name of the
 * condition has no domain, so that one with another reason may be another program's.
 */
export function isStale(service: Service, { isDefault }: RoleOptions): boolean {
  const wantsNone = service.spec?.type !== 'LoadBalancer' && !hasFinalizer(service);
  return wantsNone && isDefault && readyConditionOf(service)?.reason === REFUSED;
}

export function takeAway(service: Service): Write {
  const patch = patchOf(service, { status: { conditions: [{ type: readyCondition, $patch: 'delete' }] } });
  return { purpose: 'condition', action: statusAction, patch };
}
