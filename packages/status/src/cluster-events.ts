/** When an Event was last seen, by whichever of its fields says so. */
import type { CoreEvent } from '@outrigger/kube';

/** In milliseconds since the Unix epoch; 0: no field says it. */
export function timeOfEvent({ eventTime, firstTimestamp, lastTimestamp, series }: CoreEvent): number {
  const times = [series?.lastObservedTime, lastTimestamp, eventTime, firstTimestamp].map((time) =>
    Date.parse(time ?? ''),
  );
  return times.find((ms) => !Number.isNaN(ms)) ?? 0;
}

/** Of several at the same time the last in the list. */
export function newestEvent(events: readonly CoreEvent[]): CoreEvent | undefined {
  return events.reduce<CoreEvent | undefined>(
    (newest, event) => (newest && timeOfEvent(newest) > timeOfEvent(event) ? newest : event),
    undefined,
  );
}
