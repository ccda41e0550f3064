/**
 * Errors of a cloud, known by `code`. Never by `instanceof`: a provider may bring its own copy of this package, or none and
 * build the same shape by hand.
 */

/** The mark that makes an object a cloud error in every copy of this package: `Symbol.for('outrigger.cloud-error')`. */
export const cloudErrorMark: unique symbol = Symbol.for('outrigger.cloud-error');

/** What a code says, for the reference page and for people. */
export interface CloudErrorMeaning {
  /** What happened. */
  readonly meaning: string;
  /** What the host does about it. */
  readonly host: string;
  /** Whether what was asked for may have been done, where the error does not say it itself. */
  readonly effect: CloudErrorEffect;
}

/**
 * `none`: nothing was made or changed by what failed. `unknown`: it may have been, or may still be; the host looks for it before it
 * goes on.
 */
export type CloudErrorEffect = 'none' | 'unknown';

export type CloudErrorCode =
  | 'not-found'
  | 'conflict'
  | 'quota'
  | 'throttled'
  | 'unavailable'
  | 'timeout'
  | 'unauthenticated'
  | 'forbidden'
  | 'invalid'
  | 'unsupported'
  | 'not-owned'
  | 'retry-after'
  | 'implemented-elsewhere'
  | 'configuration';

/** Every code, and what it means. Codes are added, never renamed: dashboards and alerts name them. */
export const cloudErrorCodes: Readonly<Record<CloudErrorCode, CloudErrorMeaning>> = {
  'not-found': {
    meaning: 'The cloud said directly that the resource does not exist.',
    host: 'Proves absence only where the call that failed names one resource by its own ID; elsewhere treated as a failure.',
    effect: 'none',
  },
  conflict: {
    meaning: 'The resource is in a state that does not allow the request now, or changed in between.',
    host: 'Observes and plans again, with back-off.',
    effect: 'none',
  },
  quota: {
    meaning: 'A limit on how much there may be was reached; asking again does not help until something is freed.',
    host: 'Event on the object; retries at the longest back-off, others go on.',
    effect: 'none',
  },
  throttled: {
    meaning: 'Too many requests. Carries `retryAfterMs` where the cloud said it.',
    host: 'The call budget slows down and, for idempotent calls, sends again after the time named.',
    effect: 'none',
  },
  unavailable: {
    meaning: 'The cloud could not be reached or failed by itself.',
    host: 'Idempotent calls are sent again with back-off; nothing is concluded.',
    effect: 'unknown',
  },
  timeout: {
    meaning: 'No answer within the deadline.',
    host: 'Retried with back-off; nothing is concluded.',
    effect: 'unknown',
  },
  unauthenticated: {
    meaning: 'The credentials are missing, wrong or expired.',
    host: 'Reported as not healthy; retried at the longest back-off.',
    effect: 'none',
  },
  forbidden: {
    meaning: 'The credentials are valid and may not do this.',
    host: 'Event on the object; retried at the longest back-off.',
    effect: 'none',
  },
  invalid: {
    meaning: 'The cloud refuses the request as it is, or an answer breaks the contract.',
    host: 'Event on the object; retried after 5 to 30 minutes, and at once when the Service, its nodes or the cloud config change. A plan that refuses with it waits for the change alone.',
    effect: 'none',
  },
  unsupported: {
    meaning: 'The provider, or the cloud behind it, does not offer this.',
    host: 'Event on the object that names it; retried as `invalid`.',
    effect: 'none',
  },
  'not-owned': {
    meaning: 'The resource exists and has no owner, or another one.',
    host: 'Ignored; Event on the object.',
    effect: 'none',
  },
  'retry-after': {
    meaning: 'Not finished, and not wrong: look again after `retryAfterMs`.',
    host: 'Looks again then; no Event, no error count. Upstream: `api.RetryError`.',
    effect: 'unknown',
  },
  'implemented-elsewhere': {
    meaning: 'Another controller manages this object.',
    host: 'Ignored silently. Upstream: `ImplementedElsewhere`.',
    effect: 'none',
  },
  configuration: {
    meaning: 'The cloud config or the environment is wrong.',
    host: 'At start: one clear line and exit 1. At a reload: the old configuration stays. In an answer: nothing is concluded.',
    effect: 'none',
  },
};

export interface CloudErrorOptions {
  /** With `throttled` and `retry-after`: when to ask again, in milliseconds. The host waits for five minutes at most. */
  readonly retryAfterMs?: number | undefined;
  /** Default: what the code says in `cloudErrorCodes`. */
  readonly effect?: CloudErrorEffect | undefined;
  /** What was thrown below. Must hold no secret: causes are logged. */
  readonly cause?: unknown;
}

/** The shape by which the host knows a cloud error; also carries `[cloudErrorMark]: true`. */
export interface CloudErrorShape extends Error {
  readonly code: CloudErrorCode;
  readonly retryAfterMs?: number | undefined;
  /** Whether what was asked for may have been done. Absent: by the code. */
  readonly effect?: CloudErrorEffect | undefined;
}

/** An error with a code. The message says what happened, to what, and what to do; it may reach Events: no secrets in it. */
export class CloudError extends Error implements CloudErrorShape {
  readonly code: CloudErrorCode;
  /** Milliseconds after which asking again makes sense. */
  readonly retryAfterMs: number | undefined;
  readonly effect: CloudErrorEffect | undefined;

  constructor(code: CloudErrorCode, message: string, options: CloudErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Object.defineProperty(this, cloudErrorMark, { value: true });
    this.name = 'CloudError';
    this.code = code;
    this.retryAfterMs = options.retryAfterMs;
    this.effect = options.effect;
  }
}

/** Whether `error` is a cloud error, of this code if one is given, whichever copy of the package made it. */
export function isCloudError(error: unknown, code?: CloudErrorCode): error is CloudErrorShape {
  if (typeof error !== 'object' || error === null || !(cloudErrorMark in error)) return false;
  const found = (error as { code?: unknown }).code;
  return code === undefined ? typeof found === 'string' : found === code;
}

/** What was thrown, which may be anything, as an error: itself, if it is one. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Whether what failed may have had an effect. Of an error that is no cloud error, nothing is known. */
export function effectOf(error: unknown): CloudErrorEffect {
  if (!isCloudError(error)) return 'unknown';
  if (error.effect === 'none' || error.effect === 'unknown') return error.effect;
  return cloudErrorCodes[error.code]?.effect ?? 'unknown';
}
