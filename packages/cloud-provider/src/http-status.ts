/** From an HTTP status to an error code, for clouds with a REST API. */
import type { CloudErrorCode } from './errors.ts';

const CODES: Readonly<Record<number, CloudErrorCode>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  408: 'timeout',
  409: 'conflict',
  410: 'not-found',
  412: 'conflict',
  429: 'throttled',
  501: 'unsupported',
};

/**
 * The code for a status of 400 and above. A 404 proves absence only when the cloud itself says it of that very thing: one
 * from a proxy, or of a wrong path, looks the same. Check the body before you conclude from `not-found`.
 */
export function errorCodeOfStatus(status: number): CloudErrorCode {
  return CODES[status] ?? (status >= 500 ? 'unavailable' : 'invalid');
}
