/** What was read, with the Events of cloud controllers by what they are about. */
import type { CoreEvent, KubeObject } from '@outrigger/kube';
import type { ClusterFacts, Fact } from './cluster-facts.ts';
import type { Reading } from './cluster-status.ts';

/** Of kubelets and the scheduler there are many Events about nodes, which are none of ours. */
const OUR_COMPONENTS = /cloud|service-(?:lb-)?controller|route-controller/u;

/** Of a text of an Event or a condition, in characters: the API server bounds neither, and whoever may write them writes a megabyte. */
const MOST_SHOWN = 1_000;

/** With the Events of cloud controllers by `objectKey` of what they are about: there may be many of both. */
export interface IndexedFacts extends ClusterFacts {
  readonly eventsOf: ReadonlyMap<string, readonly CoreEvent[]>;
}

export function indexed(read: ClusterFacts): IndexedFacts {
  const ours = 'value' in read.events ? read.events.value.filter((event) => isOurEvent(event)) : [];
  const shown = ours.map((event) => ({ ...event, ...shownWords(event) }));
  return { ...read, eventsOf: Map.groupBy(shown, ({ involvedObject }) => objectKey(involvedObject)) };
}

/** Why it is so, as people are shown it. */
export function shownWords({ message, reason }: Words): Words {
  return {
    ...(message !== undefined && { message: cut(message) }),
    ...(reason !== undefined && { reason: cut(reason) }),
  };
}

function cut(text: string): string {
  return text.length <= MOST_SHOWN ? text : `${text.slice(0, MOST_SHOWN)}…`;
}

interface Words {
  readonly message?: string;
  readonly reason?: string;
}

function isOurEvent({ reportingComponent, source }: CoreEvent): boolean {
  return OUR_COMPONENTS.test((source?.component ?? '') || (reportingComponent ?? ''));
}

/**
 * The UID alone would do, if it were not written by whoever may write Events in any namespace. An Event has the namespace of what it is
 * about: the API server sees to it.
 */
function objectKey({
  kind = '',
  namespace = '',
  uid = '',
}: {
  readonly kind?: string;
  readonly namespace?: string;
  readonly uid?: string;
}): string {
  return `${kind} ${namespace} ${uid}`;
}

export function eventsAbout({ eventsOf }: IndexedFacts, kind: string, { metadata }: KubeObject): readonly CoreEvent[] {
  return metadata?.uid === undefined ? [] : (eventsOf.get(objectKey({ ...metadata, kind })) ?? []);
}

export function mapped<T, U>(fact: Fact<T>, map: (value: T) => U): Reading<U> {
  return 'unknown' in fact ? fact : { value: map(fact.value) };
}
