/** How requests end that say nothing about what was asked for. */
import type { CloudErrorCode } from '@outrigger/cloud-provider';

/** `not-found` is left out: it may be the cloud's own word. */
export const FAILURES: readonly CloudErrorCode[] = [
  'unavailable',
  'timeout',
  'throttled',
  'unauthenticated',
  'forbidden',
  'conflict',
  'quota',
  'invalid',
];

/** What clouds and the proxies before them answer when they are unwell. */
export const STATUSES: readonly number[] = [400, 401, 403, 404, 409, 410, 429, 500, 502, 503, 504];
