/** Whether a request that failed may have changed something in the cloud. */
import { effectOf, isCloudError } from '@outrigger/cloud-provider';

/** Codes of Node and of undici for what fails before a connection stands: nothing was sent. */
const BEFORE_SENDING: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
  // The server is not who it has to be: https://nodejs.org/api/tls.html#x509-certificate-error-codes
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Said of a connection that stands as well as of one that is being made. */
const WHILE_CONNECTING: ReadonlySet<unknown> = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT']);

/** Of one send: whether what it asked for may have been done. */
export function mayHaveHadEffect(error: unknown): boolean {
  return effectOf(error) === 'unknown' && !wasNeverSent(error);
}

/**
 * Writes onto the error of a call what is known of all its sends. A provider speaks of its last one only, and an earlier one may have
 * arrived.
 */
export function noteEffect(error: unknown, effect: 'none' | 'unknown'): void {
  if (!isCloudError(error) || effectOf(error) === effect || Object.isFrozen(error)) return;
  Object.assign(error, { effect });
}

/** Whether the cause says that there was no connection to send it on. */
function wasNeverSent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.every(wasNeverSent);
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (BEFORE_SENDING.has(code) || (WHILE_CONNECTING.has(code) && syscall === 'connect')) return true;
  return wasNeverSent(error.cause);
}
