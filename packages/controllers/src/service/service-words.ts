/** A Service, its load balancer and the plan for it, in sentences. Pure. */
import type { Service } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import type { NotedAction } from '../journal.ts';
import { notedOf, recordAction } from '../load-balancer/load-balancer-words.ts';
import type { Bring, LookAgain, ServicePlan } from '../load-balancer/service-plan.ts';
import { tooLongOwner } from './foreign-owner.ts';
import { ingressOf } from './load-balancer-service.ts';
import { recordedOwner, roleOf, type Role, type RoleOptions } from './role.ts';
import { cleanupFinalizer } from './well-known-names.ts';

export const letGoAction: NotedAction = {
  kind: 'let-go',
  summary: 'remove the finalizer, the name of this provider and the addresses from the Service',
};

export const notePartsAction: NotedAction = {
  kind: 'note-parts',
  summary: 'record on the Service which parts are known',
};

export const statusAction: NotedAction = {
  kind: 'write-status',
  summary: 'write the addresses and the conditions to the status of the Service',
};

/** Why the Service is served, cleaned or left alone, and who has its finalizer. */
export function factsOfService(service: Service, options: RoleOptions): readonly Fact[] {
  const { deletionTimestamp, finalizers = [] } = service.metadata ?? {};
  const { loadBalancerClass, type = 'ClusterIP' } = service.spec ?? {};
  const ofClass = loadBalancerClass === undefined ? 'without a class' : `of class ${loadBalancerClass}`;
  const what = type === 'LoadBalancer' ? `of type LoadBalancer, ${ofClass}` : `of type ${type}`;
  const owner = recordedOwner(service);
  const addresses = ingressOf(service).map(({ ip, hostname }) => ip || hostname || '');
  return [
    { text: `The Service is ${what}${deletionTimestamp === undefined ? '' : ', and is being deleted'}.` },
    { text: ROLES[roleOf(service, options)] },
    {
      text: finalizers.includes(cleanupFinalizer)
        ? `Its finalizer ${cleanupFinalizer} is there, and ${ownerWords(owner)}.`
        : 'It does not have the finalizer of a load balancer.',
    },
    { text: addresses.length > 0 ? `Its status has ${addresses.join(', ')}.` : 'Its status has no address.' },
  ];
}

function ownerWords(owner: string | undefined): string {
  if (owner === undefined) return 'no owner is recorded';
  return tooLongOwner(owner) ?? `${owner} is recorded as its owner`;
}

const ROLES: Readonly<Record<Role, string>> = {
  serve: 'This provider serves it.',
  clean: 'This provider has served it, and deletes its load balancer.',
  unclaimed:
    'It has a finalizer that any program may have set: its load balancer is deleted if parts of this provider are found.',
  leave: 'This provider is not responsible for it.',
};

export function factsOfServicePlan(plan: ServicePlan): readonly Fact[] {
  switch (plan.kind) {
    case 'nothing':
      return [
        {
          text:
            plan.reason === 'implemented-elsewhere'
              ? `Nothing: the provider says that another controller manages it: ${plan.error.message}.`
              : IDLE[plan.reason],
        },
      ];
    case 'record':
      return [{ text: `${capital(recordAction.summary)}: nothing is created in the cloud before.` }];
    case 'observe':
      return [{ text: 'Ask the cloud what there is.' }];
    case 'look-again':
      return factsOfLookAgain(plan);
    case 'ask': {
      const what = plan.questions.map(({ id, kind }) => (id === undefined ? `any ${kind} of it` : `${kind} ${id}`));
      return [{ text: `Ask the cloud directly about ${what.join(', ')}: the cloud did not list it.` }];
    }
    case 'hold':
      return [{ text: 'Nothing yet: no back end is left, which may be a mistake.' }];
    case 'refuse':
      return [{ text: `Nothing: it is refused until the Service changes: ${plan.error.message}.` }];
    case 'failed':
      return [{ text: `Try again: what is there, or what to do, could not be determined: ${plan.error.message}.` }];
    case 'release':
      return [
        {
          text: `${capital(letGoAction.summary)}, because an annotation asks for it; what is in the cloud stays there.`,
        },
      ];
    default:
      return factsOfBring(plan);
  }
}

function factsOfLookAgain({ inMs, missing, why }: LookAgain): readonly Fact[] {
  const what = missing.join(', ');
  switch (why) {
    case 'hidden':
      return [{ text: `Look again: the cloud does not list ${what}, but a direct read shows that it exists.` }];
    case 'quiet':
      return [
        {
          text: `Look again: an earlier request may still take effect.${missing.length > 0 ? ` Missing: ${what}.` : ''}`,
          inMs,
        },
      ];
    default:
      return [
        {
          text: `Look again: the cloud does not list all expected parts (inconclusive). Missing: ${what}.`,
          inMs,
        },
      ];
  }
}

function factsOfBring(bring: Bring): readonly Fact[] {
  const { complete, desired, plan } = bring;
  const warnings = (plan.warnings ?? []).map(({ message }) => ({ text: `The provider warns: ${message}` }));
  if (bring.refused) {
    const text = `It is refused until the Service changes: ${bring.refused.message}. What exists is kept, and its members follow the nodes.`;
    return [{ text }, ...notedOf(bring).map(({ summary }) => ({ text: `${capital(summary)}.` }))];
  }
  if (!complete && plan.actions.length > 0) {
    const later = bring.later ? factsOfLookAgain(bring.later) : [];
    return [...notedOf(bring).map(({ summary }) => ({ text: `${capital(summary)}.` })), ...later, ...warnings];
  }
  if (!complete) return [{ text: 'Look again: a change is in progress in the cloud.' }, ...warnings];
  if (!desired.wanted) return [{ text: `${capital(letGoAction.summary)}: no part is left.` }];
  return [{ text: `Nothing: it is up to date, with ${desired.backEnds.length} back ends.` }, ...warnings];
}

const IDLE = {
  'not-ours': 'Nothing: this provider is not responsible for it.',
  unclaimed: 'Nothing: any program may have set the finalizer, and no part of this provider was found.',
} as const;

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
