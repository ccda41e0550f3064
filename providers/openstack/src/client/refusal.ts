/** From an answer with a status of 400 or above to a `CloudError`: what the service said, and what that proves. */
import { CloudError, cutText, errorCodeOfStatus, type CloudErrorCode, retryAfterMs } from '@outrigger/cloud-provider';
import type { ReceivedHttp } from '@outrigger/provider-kit';
import type { ServiceType } from './api-client.ts';
import { SERVICE_NAMES } from './catalogue.ts';

/** What a service says in its own words. */
interface OwnWords {
  readonly message: string;
  /** Neutron's name of the error (`PortNotFound`), nova's and cinder's (`itemNotFound`); '' where there is none. */
  readonly type: string;
}

export interface RefusedRequest {
  readonly service: ServiceType;
  readonly operation: string;
  /** Below the service's root. */
  readonly path: string;
}

/** `now`: the wall clock, for a `Retry-After` that is a date. Known by its status too: `isHttpError`. */
export function refusalOf(request: RefusedRequest, answer: ReceivedHttp, now: number): CloudError {
  const { service, operation } = request;
  const words = ownWords(service, answer.text);
  const code = codeOf(request, answer, words);
  const said = words ? oneLine(words.message) : `a page that is not the service's own: ${title(answer.text)}`;
  // What is refused for what it is was not begun; a 5xx may come after half of the work, unless its words say otherwise.
  const isRefused = answer.status < 500 && answer.status !== 408;
  const error = new CloudError(code, `${SERVICE_NAMES[service]} refused ${operation}: ${said} (${answer.status})`, {
    effect: isRefused ? 'none' : undefined,
    retryAfterMs: retryAfterMs(answer.header('retry-after'), now),
  });
  return Object.assign(error, { status: answer.status });
}

function codeOf({ service, path }: RefusedRequest, answer: ReceivedHttp, words: OwnWords | undefined): CloudErrorCode {
  const { status } = answer;
  // A redirect: a wrong end point, or a proxy that wants https.
  if (status < 400) return 'unavailable';
  if (status === 406) return 'unsupported';
  // Nova and cinder say it for quotas, and for too many requests with the time to wait.
  if (status === 413) return answer.header('retry-after') === undefined ? 'quota' : 'throttled';
  if (words && isQuota(status, words)) return 'quota';
  const code = errorCodeOfStatus(status);
  if (code === 'not-found') {
    if (!words || !isSaidOfAThing(service, status, words)) return 'unavailable';
    // Of a thing that the request's body names: what was planned is not how it is any more.
    return service === 'key-manager' || namesOneOf(path, words) ? 'not-found' : 'conflict';
  }
  // Any of these may come from something between us and the service, which has not seen the request.
  return words || status === 401 || code === 'throttled' || status >= 500 ? code : 'unavailable';
}

/** Neutron's errors that mean: no more of it. Their statuses say only that the request was wrong. */
const EXHAUSTED: readonly string[] = [
  'OverQuota',
  'RoutesExhausted',
  'AllowedAddressPairExhausted',
  'IpAddressGenerationFailure',
  'ExternalIpAddressExhausted',
];

/**
 * Octavia: 403 "Quota has been met for resources: …"; nova: 403 "Quota exceeded for …"; neutron: 409 OverQuota. What neutron said of
 * the port of an address, octavia passes on as a 500, and keeps nothing [Zed].
 */
function isQuota(status: number, { message, type }: OwnWords): boolean {
  if (EXHAUSTED.includes(type)) return true;
  if (status === 500) return /\bquota exceeded for resources\b/iu.test(message);
  return [403, 409].includes(status) && /\bquota\b/iu.test(message);
}

/**
 * Whether a 404 is the service's word about a thing, and not about the path, or about what may be seen of it. Neutron answers
 * `HTTPNotFound` for a path that it does not have and for what its policy hides.
 */
function isSaidOfAThing(service: ServiceType, status: number, { message, type }: OwnWords): boolean {
  if (status !== 404) return false;
  if (service === 'network') return type.endsWith('NotFound') && type !== 'HTTPNotFound';
  if ((service === 'compute' || service === 'block-storage') && type !== 'itemNotFound') return false;
  // What the frameworks below the services say of a path without a handler.
  return !/^(?:the resource could not be found\.?|not found\.?|404 not found|)$/iu.test(oneLine(message));
}

/** `Port 7d6f could not be found.`: all services but barbican name the ID of what is not there. */
function namesOneOf(path: string, { message }: OwnWords): boolean {
  const [, ...segments] = path.split(/[/?]/u);
  return segments.some(
    (segment) => segment !== '' && !/^v\d/u.test(segment) && message.includes(decodeURIComponent(segment)),
  );
}

function ownWords(service: ServiceType, text: string): OwnWords | undefined {
  const body = parseObject(text);
  if (!body) return undefined;
  return WORDS[service](body) ?? authWords(body);
}

type Body = Readonly<Record<string, unknown>>;

const WORDS: Readonly<Record<ServiceType, (body: Body) => OwnWords | undefined>> = {
  network: ({ NeutronError: error }) => neutronWords(error),
  'load-balancer': ({ faultstring }) => worded(faultstring),
  'key-manager': ({ title, description }) => worded(description) ?? worded(title),
  compute: namedFault,
  'block-storage': namedFault,
};

/** `{"NeutronError": {"type", "message", "detail"}}`. */
function neutronWords(error: unknown): OwnWords | undefined {
  if (typeof error === 'string') return { message: error, type: '' };
  const { message, type } = (error ?? {}) as { message?: unknown; type?: unknown };
  return typeof message === 'string' ? { message, type: typeof type === 'string' ? type : '' } : undefined;
}

/** `{"itemNotFound": {"code", "message"}}`: one member, named after the fault. */
function namedFault(body: Body): OwnWords | undefined {
  const [[type, fault] = ['', undefined], ...more] = Object.entries(body);
  const { message, code } = (fault ?? {}) as { message?: unknown; code?: unknown };
  return more.length === 0 && typeof message === 'string' && typeof code === 'number' && type !== 'error'
    ? { message, type }
    : undefined;
}

/** The middleware that checks tokens in front of every service (keystonemiddleware). */
function authWords({ error }: Body): OwnWords | undefined {
  return worded((error as { message?: unknown } | undefined)?.message);
}

function worded(message: unknown): OwnWords | undefined {
  return typeof message === 'string' && message !== '' ? { message, type: '' } : undefined;
}

/** The object that a text is in JSON; `undefined` for any other text. */
export function parseObject(text: string): Body | undefined {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Body) : undefined;
  } catch {
    return undefined;
  }
}

/** Others each time: with them, the same refusal would be another Event whenever it is tried again. The log has the request's. */
const REQUEST_IDS = / ?(?:Neutron server returns request_ids: \[[^[\]]*\]|\breq-[\da-f]{8}-[\da-f-]{27})/gu;

function oneLine(message: string): string {
  return cutText(message.replaceAll(/\s+/gu, ' ').replaceAll(REQUEST_IDS, '').trim(), 400);
}

function title(page: string): string {
  const [, said] = /<title>([^<]*)<\/title>/iu.exec(page) ?? [];
  return oneLine(said ?? page.replaceAll(/<[^<>]*>/gu, ' ')) || 'it is empty';
}
