/** A series as a core/v1 Event, with the fields that upstream's recorder sets. */
import type { EventSeries } from '../event-correlator.ts';
import type { CoreEvent } from '../types/index.ts';

/** A DNS-1123 subdomain, which an Event's name must be; an object's name need not. */
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_NAME = 253;

export function eventOf(
  series: EventSeries,
  name: string,
  from: { readonly component: string; readonly host: string; readonly namespace: string },
): CoreEvent {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name, namespace: from.namespace },
    involvedObject: { ...series.about },
    type: series.type,
    reason: series.reason,
    message: series.message,
    count: series.count,
    firstTimestamp: time(series.firstAt),
    lastTimestamp: time(series.lastAt),
    source: { component: from.component, host: from.host },
    reportingComponent: from.component,
    reportingInstance: from.host,
  };
}

/** What changes when a series goes on. */
export function eventPatch(series: EventSeries): Pick<CoreEvent, 'count' | 'lastTimestamp' | 'message'> {
  return { count: series.count, lastTimestamp: time(series.lastAt), message: series.message };
}

/** `<object>.<time in nanoseconds, in hex>`, as upstream; the last digits are counted, for no clock is that fine. */
export function eventName(series: EventSeries, unique: number): string {
  const nanos = BigInt(Math.floor(series.lastAt)) * 1_000_000n + BigInt(unique % 1_000_000);
  const suffix = nanos.toString(16);
  const name = `${series.about.name ?? ''}.${suffix}`;
  return name.length <= MAX_NAME && SUBDOMAIN.test(name) ? name : `event.${suffix}`;
}

/** `meta/v1 Time`: whole seconds. */
function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
