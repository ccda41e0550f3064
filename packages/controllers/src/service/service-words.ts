/** A Service, its load balancer and the plan for it, in sentences. Pure. */
import { loadBalancerOwnerAnnotation } from '@outrigger/cloud-provider';
import type { Service } from '@outrigger/kube';
import type { Fact } from '../finding.ts';
import type { NotedAction } from '../journal.ts';
import { notedOf, recordAction } from '../load-balancer/load-balancer-words.ts';
import type { Bring, LookAgain, ServicePlan } from '../load-balancer/service-plan.ts';
import { ingressOf } from './load-balancer-service.ts';
import { roleOf, type Role, type RoleOptions } from './role.ts';
import { cleanupFinalizer } from './well-known-names.ts';

export const letGoAction: NotedAction = {
  kind: 'let-go',
  summary: 'take the finalizer, the name of this provider and the addresses off the Service',
};

export const notePartsAction: NotedAction = {
  kind: 'note-parts',
  summary: 'note on the Service what is known of its parts',
};

export const statusAction: NotedAction = {
  kind: 'write-status',
  summary: 'write the addresses to the status of the Service',
};

/** Why the Service is served, cleaned or left alone, and who has its finalizer. */
export function factsOfService(service: Service, options: RoleOptions): readonly Fact[] {
  const { annotations = {}, deletionTimestamp, finalizers = [] } = service.metadata ?? {};
  const { loadBalancerClass, type = 'ClusterIP' } = service.spec ?? {};
  const ofClass = loadBalancerClass === undefined ? 'without a class' : `of class ${loadBalancerClass}`;
  const what = type === 'LoadBalancer' ? `of type LoadBalancer, ${ofClass}` : `of type ${type}`;
  const owner = annotations[loadBalancerOwnerAnnotation];
  const addresses = ingressOf(service).map(({ ip, hostname }) => ip || hostname || '');
  return [
    { text: `The Service is ${what}${deletionTimestamp === undefined ? '' : ', and is being deleted'}.` },
    { text: ROLES[roleOf(service, options)] },
    {
      text: finalizers.includes(cleanupFinalizer)
        ? `Its finalizer ${cleanupFinalizer} is there, and ${owner === undefined ? 'nobody is recorded as its owner' : `${owner} is recorded as its owner`}.`
        : 'It does not have the finalizer of a load balancer.',
    },
    { text: addresses.length > 0 ? `Its status has ${addresses.join(', ')}.` : 'Its status has no address.' },
  ];
}

const ROLES: Readonly<Record<Role, string>> = {
  serve: 'This provider serves it.',
  clean: 'This provider has served it, and takes its load balancer away.',
  unclaimed: 'It has a finalizer that may be of anybody: it is cleaned if parts of this provider are found.',
  leave: 'It is none of the business of this provider.',
};

export function factsOfServicePlan(plan: ServicePlan): readonly Fact[] {
  switch (plan.kind) {
    case 'nothing':
      return [{ text: IDLE[plan.reason] }];
    case 'record':
      return [{ text: `${capital(recordAction.summary)}: nothing is made in the cloud before.` }];
    case 'observe':
      return [{ text: 'Ask the cloud what there is.' }];
    case 'look-again':
      return factsOfLookAgain(plan);
    case 'ask': {
      const what = plan.questions.map(({ id, kind }) => (id === undefined ? `any ${kind} of it` : `${kind} ${id}`));
      return [{ text: `Ask the cloud directly about ${what.join(', ')}: what it showed leaves that out.` }];
    }
    case 'hold':
      return [{ text: 'Nothing yet: no back end is left, and that is not believed at once.' }];
    case 'refuse':
      return [{ text: `Nothing: it is refused until the Service changes: ${plan.error.message}.` }];
    case 'failed':
      return [{ text: `Try again: it could not be found out what is there, or what to do: ${plan.error.message}.` }];
    case 'release':
      return [{ text: `${capital(letGoAction.summary)}, as its annotation asks; what is in the cloud stays there.` }];
    default:
      return factsOfBring(plan);
  }
}

function factsOfLookAgain({ inMs, missing, why }: LookAgain): readonly Fact[] {
  const what = missing.join(', ');
  switch (why) {
    case 'hidden':
      return [{ text: `Look again: the cloud, asked directly, has what it does not show. Missing is ${what}.` }];
    case 'quiet':
      return [
        {
          text: `Look again: what was asked for a moment ago may still be done.${missing.length > 0 ? ` Missing is ${what}.` : ''}`,
          inMs,
        },
      ];
    default:
      return [
        {
          text: `Look again: the cloud does not show all that is expected, which is not believed at once. Missing is ${what}.`,
          inMs,
        },
      ];
  }
}

function factsOfBring(bring: Bring): readonly Fact[] {
  const { complete, desired, plan } = bring;
  const warnings = (plan.warnings ?? []).map(({ message }) => ({ text: `The provider warns: ${message}` }));
  if (bring.refused) {
    const text = `It is refused until the Service changes: ${bring.refused.message}. What is there stays, and its members follow the nodes.`;
    return [{ text }, ...notedOf(bring).map(({ summary }) => ({ text: `${capital(summary)}.` }))];
  }
  if (!complete && plan.actions.length > 0) {
    const later = bring.later ? factsOfLookAgain(bring.later) : [];
    return [...notedOf(bring).map(({ summary }) => ({ text: `${capital(summary)}.` })), ...later, ...warnings];
  }
  if (!complete) return [{ text: 'Look again: the cloud goes on by itself.' }, ...warnings];
  if (!desired.wanted) return [{ text: `${capital(letGoAction.summary)}: no part is left.` }];
  return [{ text: `Nothing: all is as it should be, with ${desired.backEnds.length} back ends.` }, ...warnings];
}

const IDLE: Readonly<Record<(ServicePlan & { kind: 'nothing' })['reason'], string>> = {
  'not-ours': 'Nothing: it is none of the business of this provider.',
  unclaimed: 'Nothing: the finalizer may be of anybody, and no part of this provider was found.',
  'implemented-elsewhere': 'Nothing: the provider says that another controller looks after it.',
};

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
