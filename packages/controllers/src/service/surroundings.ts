/** What a step reads besides the state: the rules, made once, and what the moment has. */
import type { LoadBalancers } from '@outrigger/cloud-provider';
import type { Clock, Service, Store } from '@outrigger/kube';
import { noJournal } from '../journal.ts';
import type { BackEndSet } from './back-end-set.ts';
import type { ServiceControllerDependencies } from './service-dependencies.ts';
import type { Rules, Surroundings } from './step-types.ts';

export function ruleOptionsOf({ options, provider }: ServiceControllerDependencies): Rules['options'] {
  return {
    isDefault: true,
    providers: [options.providerName],
    ...options,
    classes: provider.classes,
    // A changed cloud config may say otherwise.
    get takesForeignNodes() {
      return provider.takesForeignNodes;
    },
  };
}

export function rulesOf(
  { clock, journal = noJournal, provider, services }: ServiceControllerDependencies,
  options: Rules['options'],
  backEnds: BackEndSet,
): Rules {
  return {
    options,
    planner: plannerOf(provider, backEnds),
    cloud: provider,
    serviceOf: (uid) => findByUid(services, uid),
    startedAt: clock.monotonic(),
    dryRun: journal.dryRun,
    redact: journal.redact,
  };
}

/** The provider, whose selections of back ends are shared. */
export function plannerOf(provider: LoadBalancers, backEnds: BackEndSet): Rules['planner'] {
  return {
    get annotations() {
      return provider.annotations;
    },
    get features() {
      return provider.features;
    },
    plan: (desired, parts) => provider.plan(desired, parts),
    ...(provider.planMembers && { planMembers: provider.planMembers.bind(provider) }),
    selectBackEnds: (service) => backEnds.select(service),
  };
}

export function surroundingsOf(
  service: Service,
  rules: Rules,
  { all: backEnds, generation }: BackEndSet,
  { clock, random }: { readonly clock: Clock; readonly random: () => number },
): Surroundings {
  return {
    rules,
    service,
    before: [],
    now: clock.monotonic(),
    wallNow: clock.now(),
    random: random(),
    backEnds,
    generation,
    newestGeneration: generation,
    appliedAt: -Infinity,
  };
}

/** Asked only about who owns what a Service wants to share. */
function findByUid(services: Store<Service>, uid: string): Service | undefined {
  for (const service of services.values()) if (service.metadata?.uid === uid) return service;
  return undefined;
}
