/** What becomes of a Service for which there is nothing to do here. Who else may have it is told. Pure. */
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { FOREIGN_AFTER_MS, foreignOwnerNote, foreignOwnerOf, unclaimedNote, unclaimedSince } from './foreign-owner.ts';
import { spent } from './polling.ts';
import { failedReadiness } from './readiness.ts';
import { isRecorded } from './role.ts';
import type { ServiceState } from './service-state.ts';
import { REST, wake, type Step, type Surroundings } from './step-types.ts';
import { isStale, takeAway } from './tell-readiness.ts';

/** Each time costs a look at the cloud. */
const UNCLAIMED_AGAIN_MS = 1_800_000;

export function leaveAlone(
  state: ServiceState,
  plan: Extract<ServicePlan, { kind: 'nothing' }>,
  at: Surroundings,
): Step {
  const { rules, service } = at;
  const { reason } = plan;
  const isElsewhere = reason === 'implemented-elsewhere' && isRecorded(service, rules.options.providerName);
  const idle: Step = {
    state: { ...spent(state), readiness: isElsewhere ? failedReadiness(plan.error) : state.readiness },
    effects: [
      { kind: 'plan', actions: [] },
      { kind: 'log', level: 4, message: 'The Service is left alone', fields: { reason } },
    ],
    next: REST,
  };
  // Nothing of what was begun is there.
  if (reason === 'unclaimed')
    return tellUnclaimed({ ...idle, state: idle.state && { ...idle.state, work: undefined, polls: 0 } }, at);
  if (isStale(service, rules.options)) return { ...idle, next: { kind: 'write', write: takeAway(service) } };
  return reason === 'not-ours' ? tellForeign(idle, at) : idle;
}

function tellForeign(idle: Step, { rules, service }: Surroundings): Step {
  const owner = foreignOwnerOf(service, rules.options);
  if (owner === undefined) return idle;
  const note = foreignOwnerNote(service, owner, rules.options.providerName);
  return { ...idle, effects: [...idle.effects, { kind: 'tell', note }], next: wake(FOREIGN_AFTER_MS) };
}

/** Another program may be at work on it; where none is, it is never deleted. */
function tellUnclaimed(idle: Step, { rules, service, wallNow }: Surroundings): Step {
  const since = unclaimedSince(service, rules.options);
  if (since === undefined) return idle;
  const leftMs = since + FOREIGN_AFTER_MS - wallNow;
  if (leftMs > 0) return { ...idle, next: wake(leftMs) };
  const note = unclaimedNote(rules.options.providerName);
  return { ...idle, effects: [...idle.effects, { kind: 'tell', note }], next: wake(UNCLAIMED_AGAIN_MS) };
}
