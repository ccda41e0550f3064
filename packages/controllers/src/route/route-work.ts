/** What making and removing routes share. */
import { isCloudError, type Route } from '@outrigger/cloud-provider';
import type { Clock, Logger, Node } from '@outrigger/kube';
import type { ControllerJournal } from '../journal.ts';
import type { ToldEvents } from '../told-events.ts';
import type { CloudRoutes } from './cloud-routes.ts';
import type { InFlightRoutes } from './in-flight-routes.ts';
import type { KnownRoutes } from './known-routes.ts';
import type { RoutePlan } from './planned-route.ts';
import type { Retries } from './retries.ts';
import type { RouteMetrics } from './route-metrics.ts';

/** After the outcome of a request was unknown. */
export const SUSPECT_MS = 30_000;

export interface RouteWork {
  readonly cloud: CloudRoutes;
  readonly known: KnownRoutes;
  readonly inFlight: InFlightRoutes;
  readonly retries: Retries;
  readonly told: ToldEvents;
  readonly journal: ControllerJournal;
  readonly metrics: RouteMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** What is to be done with these nodes. */
  readonly planWith: (nodes: Iterable<Node>) => RoutePlan;
  /** Asks for a list in so many milliseconds, unless one is due before. */
  readonly listIn: (delayMs: number) => void;
}

/** A route that is being removed, among what is in flight and what has failed. */
export function keyOfDelete({ id }: Pick<Route, 'id'>): string {
  return `route ${id}`;
}

/** It may be there, or gone, all the same. */
export function suspect({ listIn }: Pick<RouteWork, 'listIn'>, error: Error, delayMs: number): void {
  if (isCloudError(error, 'conflict') || isCloudError(error, 'not-found')) listIn(delayMs);
  else if (!isCloudError(error, 'quota') && !isCloudError(error, 'throttled')) listIn(SUSPECT_MS);
}
