/** An answer of the API server that is an error, as the server itself describes it: `meta/v1 Status`. */

/** Why, in the server's words. https://pkg.go.dev/k8s.io/apimachinery/pkg/apis/meta/v1#StatusReason; a later server may say others. */
export type StatusReason =
  | 'AlreadyExists'
  | 'BadRequest'
  | 'Conflict'
  | 'Expired'
  | 'Forbidden'
  | 'Gone'
  | 'InternalError'
  | 'Invalid'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'NotFound'
  | 'RequestEntityTooLarge'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'StoreReadError'
  | 'Timeout'
  | 'TooManyRequests'
  | 'Unauthorized'
  | 'Unknown'
  | 'UnsupportedMediaType'
  | (string & {});

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** `meta/v1 Status`, as it comes. */
export interface Status {
  readonly kind?: 'Status';
  readonly apiVersion?: string;
  readonly status?: string;
  readonly message?: string;
  readonly reason?: string;
  readonly details?: StatusDetails;
  readonly code?: number;
}

/** Where the error was said: as the answer to a request, or as an ERROR line within a running watch. */
export type StatusOrigin = 'response' | 'watch-event';

const BRAND = Symbol.for('outrigger.kube.StatusError');

/** What a status code means when the body does not say; the table of apimachinery's `NewGenericServerResponse`. */
const REASON_BY_CODE: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Thrown for every answer that is an error. Ask it with `isNotFound(error)` and its like, never with `instanceof`. */
export class StatusError extends Error {
  override readonly name = 'StatusError';
  /** HTTP status code; of an ERROR line of a watch, the code in the Status. */
  readonly code: number;
  readonly reason: StatusReason;
  readonly details: StatusDetails;
  /** How long the server asks to wait before the next try, in milliseconds; `undefined` when it does not say. */
  readonly retryAfterMs: number | undefined;
  readonly origin: StatusOrigin;

  constructor(
    /** `PATCH /api/v1/nodes/a`. */
    request: string,
    httpCode: number,
    status: Status,
    options: {
      readonly origin?: StatusOrigin;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    const code = status.code ?? httpCode;
    const reason = status.reason || (REASON_BY_CODE[code] ?? 'Unknown');
    super(`${request}: ${status.message || 'the server returned no message'} (${code} ${reason})`, {
      ...('cause' in options && { cause: options.cause }),
    });
    this.code = code;
    this.reason = reason;
    this.details = status.details ?? {};
    const seconds = status.details?.retryAfterSeconds;
    this.retryAfterMs = options.retryAfterMs ?? (seconds ? seconds * 1000 : undefined);
    this.origin = options.origin ?? 'response';
    Object.defineProperty(this, BRAND, { value: true });
  }
}

/** Whether this is a `StatusError`, of whatever copy of this package. */
export function isStatusError(error: unknown): error is StatusError {
  return typeof error === 'object' && error !== null && BRAND in error;
}

function says(error: unknown, code: number, ...reasons: readonly StatusReason[]): error is StatusError {
  return isStatusError(error) && (error.reason === 'Unknown' ? error.code === code : reasons.includes(error.reason));
}

/** 404: no such object, or no such kind. */
export function isNotFound(error: unknown): error is StatusError {
  return says(error, 404, 'NotFound');
}

/** 409: a precondition did not hold, resourceVersion and UID included; read again before the next try. */
export function isConflict(error: unknown): error is StatusError {
  return says(error, 409, 'Conflict');
}

/** 409 of a create: the name is taken. Not a `Conflict`. */
export function isAlreadyExists(error: unknown): error is StatusError {
  return says(error, 409, 'AlreadyExists');
}

/** 410: the resourceVersion or continue token is too old. List anew. */
export function isExpired(error: unknown): error is StatusError {
  return isStatusError(error) && (error.code === 410 || error.reason === 'Expired' || error.reason === 'Gone');
}

/** 429: try again after `retryAfterMs`. */
export function isTooManyRequests(error: unknown): error is StatusError {
  return isStatusError(error) && (error.code === 429 || error.reason === 'TooManyRequests');
}

/** 401: the credentials are not, or no longer, good. */
export function isUnauthorized(error: unknown): error is StatusError {
  return says(error, 401, 'Unauthorized');
}

/** 403: RBAC or an admission plug-in says no. */
export function isForbidden(error: unknown): error is StatusError {
  return says(error, 403, 'Forbidden');
}

/** 422: the object does not validate; `details.causes` says which field. */
export function isInvalid(error: unknown): error is StatusError {
  return says(error, 422, 'Invalid');
}

/** 400: the request makes no sense to the server. */
export function isBadRequest(error: unknown): error is StatusError {
  return says(error, 400, 'BadRequest');
}

/** The server has not yet seen the resourceVersion that was asked for: it restarted, was restored, or lags behind another. */
export function isResourceVersionTooLarge(error: unknown): error is StatusError {
  if (!isStatusError(error)) return false;
  if (error.details.causes?.some((cause) => cause.reason === 'ResourceVersionTooLarge')) return true;
  // Servers before 1.17 say it in the message only (kubernetes/kubernetes#91073).
  return (error.code === 504 || error.code === 500) && error.message.includes('Too large resource version');
}
