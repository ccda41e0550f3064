/** From an answer that is no success to a `CloudError`: by the cloud's own words, and what these prove. */
import {
  CloudError,
  cutText,
  errorCodeOfStatus,
  isCloudError,
  retryAfterMs,
  type CloudErrorCode,
  type CloudErrorEffect,
  type CloudErrorShape,
} from '@outrigger/cloud-provider';
import type { ReceivedHttp } from './http-transport.ts';

/** What an API says of an error in its own form. */
export interface ApiError {
  /** Its name of it: `server_not_found`, `ResourceNotFound`. Empty: it has none. */
  readonly code: string;
  readonly message: string;
  /** What else it says that a program needs: the object that a fault names. Default: nothing. */
  readonly detail?: Readonly<Record<string, string>>;
}

/** One row of the table: what a status, a code of the API or both mean. The first row that fits counts. */
export interface ErrorRule {
  /** Default: any. */
  readonly status?: number;
  /** `ApiError.code`, or a pattern of codes. Default: any, and also an answer that is not in the API's own form. */
  readonly code?: string | RegExp;
  readonly means: CloudErrorCode;
  /** Default: `none` for a status below 500 but 408, else `unknown`. */
  readonly effect?: CloudErrorEffect;
}

export interface RefusalOptions {
  /** For messages: `Acme`. */
  readonly cloud: string;
  /** The API's own words in the body of an answer; `undefined` for what is not in its form: a page of a proxy. */
  readonly errorOf: (body: unknown, header: ReceivedHttp['header']) => ApiError | undefined;
  readonly errors: readonly ErrorRule[];
}

/** A `CloudError` of the HTTP client. */
export interface HttpError extends CloudErrorShape {
  readonly status: number;
  /** `ApiError.code`; empty without. */
  readonly apiCode: string;
  /** `ApiError.detail`. */
  readonly detail?: Readonly<Record<string, string>>;
}

/**
 * Without a row in the table: by the status, but for a 404 or 410, which proves nothing unless a row says `not-found`, and for a refusal
 * that is not in the API's own form, which may be of something between here and there: both are `unavailable`.
 */
export function refusalOf(
  { cloud, errorOf, errors }: RefusalOptions,
  operation: string,
  answer: ReceivedHttp,
  body: unknown,
  now: number,
): HttpError {
  const { status } = answer;
  const own = errorOf(body, (name) => answer.header(name));
  const rule = errors.find((one) => fits(one, status, own));
  const said = own ? oneLine(own.message || own.code) : 'not in its own words';
  const message = `${cloud} refused ${operation}: ${said} (${status})`;
  const isRefused = status < 500 && status !== 408;
  const error = new CloudError(rule?.means ?? codeOf(status, own), message, {
    effect: rule?.effect ?? (isRefused ? 'none' : 'unknown'),
    retryAfterMs: retryAfterMs(answer.header('retry-after'), now),
  });
  return Object.assign(error, { status, apiCode: own?.code ?? '', ...(own?.detail && { detail: own.detail }) });
}

/** Whether an answer with this status is behind the error, and with this code of the API where one is given. */
export function isHttpError(error: unknown, status: number, apiCode?: string): error is HttpError {
  if (!isCloudError(error)) return false;
  const { status: had, apiCode: said } = error as Partial<HttpError>;
  return had === status && (apiCode === undefined || said === apiCode);
}

function fits(rule: ErrorRule, status: number, own: ApiError | undefined): boolean {
  const { code } = rule;
  if ((rule.status ?? status) !== status) return false;
  return code instanceof RegExp ? own !== undefined && code.test(own.code) : code === undefined || code === own?.code;
}

function codeOf(status: number, own: ApiError | undefined): CloudErrorCode {
  // A redirect: a wrong end point, or a proxy that wants https.
  if (status < 400) return 'unavailable';
  const code = errorCodeOfStatus(status);
  if (code === 'not-found') return 'unavailable';
  return own || status === 401 || code === 'throttled' || status >= 500 ? code : 'unavailable';
}

function oneLine(message: string): string {
  return cutText(message.replaceAll(/\s+/gu, ' ').trim(), 400);
}
