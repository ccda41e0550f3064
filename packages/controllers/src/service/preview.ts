/** What the service controller would do about Services whose load balancers another program serves so far. Reads, and plans; never applies. */
import {
  asError,
  type CallContext,
  type LoadBalancerAction,
  type LoadBalancerObservation,
  type LoadBalancers,
} from '@outrigger/cloud-provider';
import { batchSizeOf } from '@outrigger/cloud-runtime';
import { raceAbort, type Node, type Service } from '@outrigger/kube';
import { BackEndSet } from './back-end-set.ts';
import type { BackEndProvider } from './back-ends.ts';
import { inTurns } from './in-turns.ts';
import { loadBalancerServiceOf } from './load-balancer-service.ts';
import { planService, type ObservedService } from './plan.ts';
import type { ServicePlan } from '../load-balancer/service-plan.ts';
import { roleOf } from './role.ts';
import { asRecorded } from './service-patch.ts';
import { plannerOf } from './surroundings.ts';

export interface PreviewOptions {
  readonly loadBalancers: LoadBalancers;
  readonly services: readonly Service[];
  readonly nodes: readonly Node[];
  readonly options: Omit<ObservedService['options'], 'classes'> & Pick<BackEndProvider, 'providers'>;
  readonly call: CallContext;
}

export interface PreviewedService {
  /** `default/web`. */
  readonly name: string;
  /**
   * - `unchanged`: nothing, or what is there is taken over as it is.
   * - `changes`: `actions` are carried out.
   * - `refused`: `why`; with `actions`, members of what is there follow the nodes.
   * - `unknown`: it could not be found out what is there, or what to do: `why`.
   */
  readonly outcome: 'unchanged' | 'changes' | 'refused' | 'unknown';
  /** The first steps; those of what is taken over come after those that take it. */
  readonly actions: readonly Pick<LoadBalancerAction, 'id' | 'kind' | 'mayCutTraffic' | 'part' | 'summary'>[];
  readonly why?: string;
  readonly warnings: readonly string[];
  /** It is served now: what is made anew, deleted or marked (`mayCutTraffic`) cuts traffic. */
  readonly isServed: boolean;
}

/** Of all Services that are to be served by this provider, namespaces in turns. Once the call is aborted the others are `unknown`. */
export async function previewServices(preview: PreviewOptions): Promise<readonly PreviewedService[]> {
  const { call, loadBalancers, nodes, services } = preview;
  const options = { ...preview.options, classes: loadBalancers.classes };
  const backEnds = new BackEndSet({ ...options, takesForeignNodes: loadBalancers.takesForeignNodes }, loadBalancers);
  for (const node of nodes) backEnds.note({ type: 'add', key: node.metadata?.name ?? '', object: node });
  // As the controller writes it before anything else.
  const served = services
    .filter((one) => roleOf(one, options) === 'serve')
    .map((one) => asRecorded(one, options.providerName));
  const inOrder = [...inTurns(served, ({ metadata }) => metadata?.namespace ?? '')];
  const byUID = new Map(services.map((one) => [one.metadata?.uid ?? '', one]));
  const provider = plannerOf(loadBalancers, backEnds);
  const found: PreviewedService[] = [];
  const batch = batchSizeOf(loadBalancers);
  for (let i = 0; i < inOrder.length; i += batch) {
    const some = inOrder.slice(i, i + batch);
    const observations = await observe(loadBalancers, some, call);
    for (const [j, service] of some.entries()) {
      const observation = observations[j];
      const serviceOf = (uid: string): Service | undefined => byUID.get(uid);
      const common = { service, provider, backEnds: backEnds.all, believesEmpty: false, serviceOf, options };
      found.push(previewOf({ ...common, observation }));
    }
  }
  return found;
}

/** In their order; one that cannot be read as a Service at all is refused by its plan, and is not asked about. */
async function observe(
  loadBalancers: LoadBalancers,
  services: readonly Service[],
  call: CallContext,
): Promise<readonly (LoadBalancerObservation | undefined)[]> {
  const readable = services.map((service) => {
    try {
      return loadBalancerServiceOf(service, loadBalancers.annotations);
    } catch {
      return undefined;
    }
  });
  const asked = readable.filter((one) => one !== undefined);
  let answers: readonly LoadBalancerObservation[];
  try {
    call.signal.throwIfAborted();
    answers = asked.length === 0 ? [] : await raceAbort(loadBalancers.observe(asked, call), call.signal);
  } catch (thrown) {
    const error = asError(thrown);
    answers = asked.map(() => ({ kind: 'failed', error }));
  }
  const byUID = new Map(asked.map(({ uid }, i) => [uid, answers[i]]));
  return readable.map((one) => one && byUID.get(one.uid));
}

function previewOf(observed: ObservedService): PreviewedService {
  const { metadata, status } = observed.service;
  const common = {
    name: `${metadata?.namespace ?? ''}/${metadata?.name ?? ''}`,
    isServed: (status?.loadBalancer?.ingress?.length ?? 0) > 0,
    actions: [],
    warnings: [],
  };
  const plan = planService(observed);
  switch (plan.kind) {
    case 'bring': {
      const { actions, warnings = [] } = plan.plan;
      const next = afterClaims(observed, actions);
      const all = [
        ...actions,
        ...(next?.kind === 'bring' ? next.plan.actions.filter(({ kind }) => kind !== 'claim') : []),
      ];
      const shown = all.map(({ id, kind, mayCutTraffic, part, summary }) => ({
        ...(id !== undefined && { id }),
        kind,
        ...(mayCutTraffic && { mayCutTraffic }),
        part,
        summary,
      }));
      const told = { ...common, actions: shown, warnings: warnings.map(({ message }) => message) };
      const refused = plan.refused ?? refusalOf(next);
      if (refused) return { ...told, outcome: 'refused', why: refused.message };
      if (all.length === 0 && !plan.complete) {
        return { ...told, outcome: 'unknown', why: 'it is being changed, or waits for something: ask again' };
      }
      return { ...told, outcome: all.every(({ kind }) => kind === 'claim') ? 'unchanged' : 'changes' };
    }
    case 'refuse':
      return { ...common, outcome: 'refused', why: plan.error.message };
    case 'failed':
      return { ...common, outcome: 'unknown', why: plan.error.message };
    case 'hold':
      return { ...common, outcome: 'unknown', why: 'no node takes its traffic, as far as can be seen' };
    case 'nothing':
      return { ...common, outcome: 'unchanged' };
    default:
      return { ...common, outcome: 'unknown', why: `it cannot be planned yet: ${plan.kind}` };
  }
}

/** A plan names only what can be done now: here what follows once the parts that it takes over are this Service's. */
function afterClaims(observed: ObservedService, actions: readonly LoadBalancerAction[]): ServicePlan | undefined {
  const { observation, options, service } = observed;
  const isClaimed = (kind: string, id: string): boolean =>
    actions.some((one) => one.kind === 'claim' && one.part === kind && one.id === id);
  if (observation?.kind !== 'parts' || !actions.some(({ kind }) => kind === 'claim')) return undefined;
  const owner = { clusterId: options.clusterId, uid: service.metadata?.uid ?? '' };
  const parts = observation.parts.map((part) => (isClaimed(part.kind, part.id) ? { ...part, owner } : part));
  return planService({ ...observed, observation: { ...observation, parts } });
}

function refusalOf(plan: ServicePlan | undefined): Error | undefined {
  return plan?.kind === 'bring' ? plan.refused : plan?.kind === 'refuse' ? plan.error : undefined;
}
