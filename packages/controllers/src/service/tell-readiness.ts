/** Writes what a Service says of itself: with what is written anyway, and else once, when a pass ends. Pure. */
import type { Patch, Service } from '@outrigger/kube';
import { needsNone, readyConditionFor, readyConditionOf, REFUSED, type Readiness } from './readiness.ts';
import { hasFinalizer, roleOf, type RoleOptions } from './role.ts';
import { patchOf } from './service-patch.ts';
import { statusAction } from './service-words.ts';
import type { Step, Surroundings, Write } from './step-types.ts';
import { readyCondition } from './well-known-names.ts';

/** The same patch, or one of its own, with the condition. `undefined`: there is nothing to write. */
export function saying<P extends Patch | undefined>(
  patch: P,
  readiness: Readiness | undefined,
  { rules, service, wallNow }: Surroundings,
): P | Patch {
  if (!patch && readiness && needsNone(service, readiness)) return patch;
  const told = readiness && { ...readiness, message: rules.redact(readiness.message) };
  const condition = told && readyConditionFor(service, told, wallNow);
  if (!condition) return patch;
  const { status, ...body } = (patch && 'body' in patch ? patch.body : {}) as Pick<Service, 'metadata' | 'status'>;
  return patchOf(service, { ...body, status: { ...status, conditions: [...(status?.conditions ?? []), condition] } });
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
  const patch = saying(undefined, state.readiness, at);
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
