/** What people are told about a Service. Reasons are upstream's, which alerts and tests look for. */
import type { LoadBalancerWarning } from '@outrigger/cloud-provider';
import type { EventNote } from '@outrigger/kube';
import { reasonOf } from '../load-balancer/failure.ts';
import { excludeLabel, releaseAnnotation } from './well-known-names.ts';

/** What a series of actions is about: the Service has changed, only its back ends have, or it wants none any more. */
export type Episode = 'ensure' | 'update' | 'delete';

/** `[reason, message]`. */
type Words = readonly [string, string];

const WORDS: Readonly<Record<Episode, { begin?: Words; readonly end: Words; readonly failure: Words }>> = {
  ensure: {
    begin: ['EnsuringLoadBalancer', 'Ensuring load balancer'],
    end: ['EnsuredLoadBalancer', 'Ensured load balancer'],
    failure: ['SyncLoadBalancerFailed', 'Error syncing load balancer'],
  },
  update: {
    end: ['UpdatedLoadBalancer', 'Updated load balancer with new hosts'],
    failure: ['UpdateLoadBalancerFailed', 'Error updating load balancer with new hosts'],
  },
  delete: {
    begin: ['DeletingLoadBalancer', 'Deleting load balancer'],
    end: ['DeletedLoadBalancer', 'Deleted load balancer'],
    failure: ['DeleteLoadBalancerFailed', 'Error deleting load balancer'],
  },
};

/** Reasons of the Events that end a try to bring a load balancer to what its Service asks for. */
export const serveReasons: { readonly done: ReadonlySet<string>; readonly failed: ReadonlySet<string> } = {
  done: new Set([WORDS.ensure.end[0], WORDS.update.end[0]]),
  failed: new Set([WORDS.ensure.failure[0], WORDS.update.failure[0]]),
};

/** The same of a try to take one away. */
export const removeReasons: { readonly done: string; readonly failed: string } = {
  done: WORDS.delete.end[0],
  failed: WORDS.delete.failure[0],
};

/** What a person can do when it keeps failing. */
const REMEDY: Partial<Record<Episode, string>> = {
  delete: `It is retried. If the cloud is gone, release the Service: kubectl annotate service NAME ${releaseAnnotation}=true`,
};

export function beginNote(episode: Episode): EventNote | undefined {
  const { begin } = WORDS[episode];
  return begin && { type: 'Normal', reason: begin[0], message: begin[1] };
}

export function endNote(episode: Episode): EventNote {
  const [reason, message] = WORDS[episode].end;
  return { type: 'Normal', reason, message };
}

export function failureNote(episode: Episode, error: Error): EventNote {
  const [reason, what] = WORDS[episode].failure;
  const remedy = REMEDY[episode];
  const failure = `${what}: ${reasonOf(error)}`;
  const message = remedy === undefined ? failure : `${failure.replace(/\.$/u, '')}. ${remedy}`;
  return { type: 'Warning', reason, message };
}

export const noNodesNote: EventNote = noNodes('');

export function heldNote(seconds: number): EventNote {
  return noNodes(` The current back ends are kept for ${seconds} s, in case this is a mistake.`);
}

function noNodes(more: string): EventNote {
  const message = `There are no available nodes for LoadBalancer.${more} Check their provider IDs and the label ${excludeLabel}.`;
  return { type: 'Warning', reason: 'UnAvailableLoadBalancer', message };
}

export function releasedNote(error: Error, known: readonly string[]): EventNote {
  const what = known.length > 0 ? `Last seen: ${known.join(', ')}` : 'Its parts are not known';
  return {
    type: 'Warning',
    reason: 'ReleasedLoadBalancer',
    message: `The finalizer is removed because an annotation asks for it. The load balancer may still be in the cloud: ${reasonOf(error)}. ${what}. Delete it by hand.`,
  };
}

export function warningNote({ reason, message }: LoadBalancerWarning): EventNote {
  return { type: 'Warning', reason, message };
}

export function addressGoneNote(addresses: readonly string[]): EventNote {
  const message = `The cloud no longer shows ${addresses.join(', ')} as an address of this Service's load balancer. It is removed from the status, so that no node sends the traffic of that address to this Service.`;
  return { type: 'Warning', reason: 'LoadBalancerAddressGone', message };
}

export function missingNote(missing: readonly string[]): EventNote {
  const message = `The cloud does not list ${missing.join(', ')}, and does not prove that it does not exist. It counts as absent once it has been missing from every list for 90 s. Until then, nothing is created in its place, and the finalizer stays. If it lasts, check the cloud and the permissions.`;
  return { type: 'Warning', reason: 'LoadBalancerPartsMissing', message };
}

export function hiddenNote(hidden: readonly string[]): EventNote {
  const message = `The cloud does not list ${hidden.join(', ')}, but a direct read shows that it exists. Until it is listed or deleted, nothing is created in its place, and the finalizer stays. Check the tags of these parts and the permissions.`;
  return { type: 'Warning', reason: 'LoadBalancerPartsHidden', message };
}
