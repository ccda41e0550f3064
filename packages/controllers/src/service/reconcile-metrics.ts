/** Counts how load balancers are brought to what they should be under the names of a predecessor, by what people are told of it. */
import type { PredecessorMetrics } from '@outrigger/cloud-provider';
import type { Clock, EventRecorder, Metrics } from '@outrigger/kube';
import { beginNote, endNote, failureNote, type Episode } from './service-events.ts';

const EPISODES: readonly Episode[] = ['ensure', 'update', 'delete'];
const NO_ERROR = new Error();
/** Of one that never ended, because its Service was deleted by force, nothing is told any more. */
const MOST_BEGUN = 10_000;

/**
 * Records the same Events, and counts them. A failure is counted each time that it is told: with the same words, once in half an hour.
 * A change of nodes alone has no beginning that is told, and so no duration.
 * Without a predecessor, `events` itself.
 */
export function countingReconciles(
  events: EventRecorder,
  predecessor: PredecessorMetrics['reconciles'],
  { clock, metrics }: { readonly clock: Clock; readonly metrics: Metrics },
): EventRecorder {
  if (!predecessor) return events;
  const { buckets, prefix } = predecessor;
  const labels = ['operation'] as const;
  const duration = metrics.histogram({
    name: `${prefix}_duration_seconds`,
    help: 'Time until a load balancer was reconciled or failed, by the name that a predecessor gave it.',
    labels,
    buckets,
  });
  const total = metrics.counter({
    name: `${prefix}_total`,
    help: 'Reconciliations of load balancers, by the name that a predecessor gave them.',
    labels,
  });
  const errors = metrics.counter({
    name: `${prefix}_errors_total`,
    help: 'Reconciliations of load balancers that failed, by the name that a predecessor gave them.',
    labels,
  });
  const begins = new Set(EPISODES.flatMap((one) => beginNote(one)?.reason ?? []));
  const ends = new Map(EPISODES.map((one) => [endNote(one).reason, one]));
  const failures = new Map(EPISODES.map((one) => [failureNote(one, NO_ERROR).reason, one]));
  /** By UID; monotonic. */
  const begun = new Map<string, number>();
  return {
    record: (about, note) => {
      const uid = about.metadata?.uid ?? '';
      if (begun.size >= MOST_BEGUN) begun.clear();
      if (begins.has(note.reason)) begun.set(uid, clock.monotonic());
      const episode = ends.get(note.reason) ?? failures.get(note.reason);
      if (episode !== undefined) {
        const operation = `loadbalancer_${episode}`;
        const since = begun.get(uid);
        if (since !== undefined) duration.observe((clock.monotonic() - since) / 1000, { operation });
        total.inc({ operation });
        if (failures.has(note.reason)) errors.inc({ operation });
        else begun.delete(uid);
      }
      events.record(about, note);
    },
  };
}
