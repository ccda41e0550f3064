/** What is known of a Service, and planned for it, for people. Pure; from memory alone, with what the cloud showed last. */
import type { Fact, Finding, Standing } from '../finding.ts';
import { factsOfParts, listedParts } from '../load-balancer/load-balancer-words.ts';
import { judgedPlan } from './pass.ts';
import { partsOf, stateOf, type ServiceState } from './service-state.ts';
import { selectedBy, settledNow } from './settled-now.ts';
import { factsOfService, factsOfServicePlan } from './service-words.ts';
import type { Surroundings } from './step-types.ts';

/** `ofNodes`: what holds for all Services. */
export function explainService(known: ServiceState | undefined, at: Surroundings, ofNodes: readonly Fact[]): Finding {
  const state = stateOf(known, at.service, at.rules);
  const { lastFailure: failure, look, uid, work } = state;
  const { now, rules, service } = at;
  const { plan } = judgedPlan(state, look, at);
  return {
    controller: 'service-lb-controller',
    about: [uid],
    observed: [
      ...factsOfService(service, rules.options),
      ...factsOfLook(state, now),
      ...(work?.handles ?? []).map((handle) => ({ text: `An operation is in progress in the cloud: ${handle}.` })),
      ...(failure ? [failureFact(failure, now)] : []),
      ...ofNodes,
    ],
    planned: [...factsOfServicePlan(plan), ...retryFacts(failure, now)],
  };
}

/** What is settled is not planned anew. */
export function standingOfService(known: ServiceState | undefined, at: Surroundings): Standing {
  const state = stateOf(known, at.service, at.rules);
  const { metadata = {} } = at.service;
  const settled = settledNow(state, at, () => selectedBy(state, at));
  const plan = settled ? undefined : judgedPlan(state, state.look, at).plan;
  const isDone = !plan || (plan.kind === 'bring' && plan.complete && !plan.refused && plan.desired.wanted);
  const { lastFailure: failure } = state;
  return {
    name: `${metadata.namespace}/${metadata.name}`,
    controller: 'service-lb-controller',
    state: isDone ? 'ready' : plan.kind,
    planned:
      plan && !isDone
        ? [
            ...factsOfServicePlan(plan),
            ...(failure ? [failureFact(failure, at.now)] : []),
            ...retryFacts(failure, at.now),
          ]
        : [],
    parts: listedParts(partsOf(state.look)),
  };
}

function factsOfLook({ look }: ServiceState, now: number): readonly Fact[] {
  if (!look) return [{ text: 'The cloud has not been queried for it yet.' }];
  const agoMs = Math.max(0, now - look.startedAt);
  const { observation } = look;
  if (observation.kind === 'parts') return factsOfParts(observation.parts, agoMs);
  return [{ text: `The query to the cloud failed: ${observation.error.message}.`, agoMs }];
}

function failureFact({ at, error }: NonNullable<ServiceState['lastFailure']>, now: number): Fact {
  return { text: `The last attempt failed: ${error.message}.`, agoMs: now - at };
}

function retryFacts(failure: ServiceState['lastFailure'], now: number): readonly Fact[] {
  if (failure?.retryAfterMs === undefined) return [];
  return [{ text: 'Retry.', inMs: Math.max(0, failure.at + failure.retryAfterMs - now) }];
}
