/** The end of a load balancer: nothing is left of it, or a person has given it up. Pure. */
import type { EventNote } from '@outrigger/kube';
import { spent } from './polling.ts';
import { endNote } from './service-events.ts';
import { letGoPatch } from './service-patch.ts';
import type { ServiceState } from './service-state.ts';
import { letGoAction } from './service-words.ts';
import { REST, wake, type Effect, type Step, type Surroundings } from './step-types.ts';

/** No part was seen. That counts once nothing that was asked for before can still appear. */
export function cleaned(state: ServiceState, at: Surroundings): Step {
  if ((state.look?.startedAt ?? -Infinity) >= state.quietFrom) return letGo(state, at, endNote('delete'));
  return { state: spent(state), effects: [], next: wake(Math.max(0, state.quietFrom - at.now)) };
}

export function letGo(state: ServiceState, at: Surroundings, note?: EventNote): Step {
  if (state.leftover) return letGone(state, note, at);
  const patch = letGoPatch(at.service, state.settled?.ingress);
  const going = { ...state, isLetGo: true };
  if (!patch) return letGone(going, note, at);
  const write = { purpose: 'let-go', action: letGoAction, patch, note } as const;
  return { state: going, effects: [], next: { kind: 'write', write } };
}

/** Of a Service that stays, as another type, nothing is remembered: it does not hold for the next load balancer. */
export function letGone(state: ServiceState, note: EventNote | undefined, at: Surroundings): Step {
  const effects: readonly Effect[] = [...(note ? [{ kind: 'record', note } as const] : []), { kind: 'forget-lock' }];
  if (state.leftover) return { state: undefined, effects: [...effects, { kind: 'forget', isGone: true }], next: REST };
  const isGoing = at.service.metadata?.deletionTimestamp !== undefined;
  return { state: isGoing ? { ...spent(state), failures: 0 } : undefined, effects, next: REST };
}
