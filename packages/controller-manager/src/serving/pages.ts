/** What the manager's listener answers: health, metrics, configuration and version, behind the access policy. */
import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock, Logger } from '@outrigger/kube';
import type { AccessPolicy } from '../access/access-policy.ts';
import type { AccessRequest } from '../access/user.ts';
import { onceAMinute } from '../logs/once-a-minute.ts';
import type { HealthChecks, HealthEndpoint, HealthReport } from './health-checks.ts';
import { jsonAnswer, textAnswer, withHeaders, type HttpAnswer, type HttpApp, type HttpRequest } from './http-app.ts';

export interface PagesOptions {
  readonly access: AccessPolicy;
  readonly health: HealthChecks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: { render(): Promise<string>; readonly contentType: string };
  /** `/metrics/slis`: what `HealthChecks` counts. Default: not served. */
  readonly slis?: { render(): Promise<string>; readonly contentType: string } | undefined;
  /** `/flagz`. Default: not served. */
  readonly flagz?: (() => string) | undefined;
  /** `/statusz`, given the paths of all pages that can be read. Default: not served. */
  readonly statusz?: ((paths: readonly string[]) => string) | undefined;
  /** `PUT /debug/flags/v`: how much is logged from now on. Default: not served. */
  readonly setVerbosity?: ((level: number) => void) | undefined;
  /** More pages, in JSON. Default: none. */
  readonly pages?: readonly Page[] | undefined;
  /** The configuration that is in force, by component, for `/configz`. No secrets. */
  readonly configz: () => Readonly<Record<string, unknown>>;
  /** `/version`. */
  readonly version: Readonly<Record<string, string>>;
}

/** One more page: `GET`, behind the access policy as all others. */
export interface Page {
  /** `/debug/plan`; with a slash at its end, all paths below it are the page's too. */
  readonly path: string;
  /** `rest`: what of the path comes after `path`, decoded. `status`: 200 by default. */
  readonly answer: (rest: string) => PageAnswer | Promise<PageAnswer>;
}

/** `body`: JSON, or of another status than 200 why. Whoever has the same already (`If-None-Match`) gets 304 without it. */
export interface PageAnswer {
  readonly status?: 404 | 503;
  readonly body: unknown;
}

const VERBOSITY = '/debug/flags/v';
/** Of the one page that reads a body it is two. */
const LONGEST_BODY = 1_024;
const ENDPOINTS: readonly HealthEndpoint[] = ['healthz', 'livez', 'readyz'];

/** One page of the exact path that it is kept under. */
type Answer = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
type HealthAnswer = (endpoint: HealthEndpoint, report: HealthReport) => HttpAnswer;

export function createPages(options: PagesOptions): HttpApp {
  const { access, logger } = options;
  const health = healthAnswers(options);
  const exact = exactPages(options, health);
  const below = (options.pages ?? []).filter(({ path }) => path.endsWith('/'));
  const answer = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { method, path } = request;
    // Before anybody is asked who this is: what is not read stays in memory for so long.
    if (hasLongBody(request)) {
      const refusal = failure(413, `a body has at most ${LONGEST_BODY} bytes here, and says how many`);
      return withHeaders(refusal, { Connection: 'close' });
    }
    const decision = await access.decide(accessRequestOf(request));
    if (!decision.allowed) return failure(decision.status, decision.message);
    const wanted = path === VERBOSITY && options.setVerbosity ? 'PUT' : 'GET';
    if (method !== wanted && !(wanted === 'GET' && method === 'HEAD')) {
      return failure(405, `${method} is not answered here: only ${wanted}`);
    }
    const answered = await answerOf(request);
    return withHeaders(answered, { 'Cache-Control': 'no-cache, private', 'X-Content-Type-Options': 'nosniff' });
  };
  const answerOf = async (request: HttpRequest): Promise<HttpAnswer> => {
    const { path } = request;
    try {
      const page = below.find((one) => path.startsWith(one.path));
      if (page) return await moreOf(page, request);
      return (
        (await (exact.get(path)?.(request) ?? oneCheck(options, health, path))) ??
        textAnswer('404 page not found\n', 404)
      );
    } catch (error) {
      return failed(error, path);
    }
  };
  const failed = (error: unknown, path: string): HttpAnswer => {
    logger.error('Page failed', { path, error });
    return textAnswer('internal server error\n', 500);
  };
  return async (request) => answer(request).catch((error: unknown) => failed(error, request.path));
}

function exactPages(options: PagesOptions, healthAnswer: HealthAnswer): ReadonlyMap<string, Answer> {
  const { configz, flagz, health, logger, metrics, setVerbosity, slis, statusz, version } = options;
  const exact = new Map<string, Answer>();
  for (const endpoint of ENDPOINTS) {
    exact.set(`/${endpoint}`, async ({ query }) => {
      const report = await health.run(endpoint, { exclude: query.getAll('exclude'), verbose: query.has('verbose') });
      return healthAnswer(endpoint, report);
    });
  }
  const shown = async (from: typeof metrics): Promise<HttpAnswer> =>
    withHeaders(textAnswer(await from.render()), { 'Content-Type': from.contentType });
  exact.set('/metrics', () => shown(metrics));
  if (slis) exact.set('/metrics/slis', () => shown(slis));
  if (flagz) exact.set('/flagz', () => textAnswer(flagz()));
  exact.set('/configz', () => jsonAnswer(configz()));
  exact.set('/version', () => jsonAnswer(version));
  for (const page of options.pages ?? []) exact.set(page.path, (request) => moreOf(page, request));
  if (statusz) exact.set('/statusz', () => textAnswer(statusz(paths)));
  const paths = [...exact.keys()].sort();
  exact.set('/', () => jsonAnswer({ paths }));
  // Not among those that can be read: upstream too has its `/debug/flags/v` unlisted (k8s.io/apiserver, pkg/server/routes/flags.go).
  if (setVerbosity) {
    exact.set(VERBOSITY, async ({ incoming }) => {
      // Not read when it is long, or of no known length.
      const text = Number(incoming.headers['content-length'] ?? Infinity) <= 2 ? await bodyOf(incoming) : '';
      if (!/^\d{1,2}$/u.test(text)) return textAnswer('the body must be a whole number from 0 to 99\n', 400);
      setVerbosity(Number(text));
      logger.info('Verbosity changed', { v: Number(text) });
      return textAnswer(`successfully set the verbosity to ${text}\n`);
    });
  }
  return exact;
}

/** `/healthz/ping`. */
async function oneCheck(
  { health }: PagesOptions,
  healthAnswer: HealthAnswer,
  path: string,
): Promise<HttpAnswer | undefined> {
  const [, first, name] = /^\/([a-z]+)\/([^/]+)$/u.exec(path) ?? [];
  const endpoint = ENDPOINTS.find((one) => one === first);
  const report = endpoint && name !== undefined ? await health.runOne(endpoint, name) : undefined;
  return endpoint && report && healthAnswer(endpoint, report);
}

async function moreOf({ answer, path }: Page, request: HttpRequest): Promise<HttpAnswer> {
  const { body, status = 200 } = await answer(request.path.slice(path.length));
  if (status !== 200) return failure(status, String(body));
  const whole = jsonAnswer(body);
  const tag = `"${createHash('sha256')
    .update(whole.body ?? '')
    .digest('base64url')}"`;
  if (request.incoming.headers['if-none-match'] === tag) return { status: 304, headers: { ETag: tag } };
  return withHeaders(whole, { ETag: tag });
}

/** These are open to everybody. */
function healthAnswers({ clock, logger }: PagesOptions): HealthAnswer {
  const isDue = onceAMinute(clock);
  return (endpoint, { failures, healthy, text }) => {
    for (const { name, error } of failures) {
      if (isDue(`${endpoint} ${name}`)) logger.warn('Health check failed', { endpoint, check: name, error });
    }
    return textAnswer(text, healthy ? 200 : 500);
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of incoming) text += String(chunk);
  return text;
}

function hasLongBody({ incoming: { headers } }: HttpRequest): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > LONGEST_BODY;
}

const REASONS = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;

function failure(code: keyof typeof REASONS, message: string): HttpAnswer {
  const about = { metadata: {}, status: 'Failure', message, reason: REASONS[code], code };
  return jsonAnswer({ kind: 'Status', apiVersion: 'v1', ...about }, code);
}

function accessRequestOf({ incoming, method, path }: HttpRequest): AccessRequest {
  const socket = incoming.socket as Partial<TLSSocket>;
  // `authorized`: OpenSSL has found a chain to one of the authorities. To whose is the policy's to find out.
  const certificate = socket.authorized || lacksRootAlone(socket) ? socket.getPeerX509Certificate?.() : undefined;
  return { method, path, peer: socket.remoteAddress ?? '', headers: incoming.headersDistinct, certificate };
}

/**
 * Whether OpenSSL misses nothing but the root above one of the authorities. Go trusts each authority by itself, and Node can do so
 * (`allowPartialTrustChain`), but `tls.Server` drops that option.
 */
function lacksRootAlone(socket: Partial<TLSSocket>): boolean {
  // The code of the last check that failed: dates, purposes and signatures are checked after the chain.
  return (socket.authorizationError as unknown) === 'UNABLE_TO_GET_ISSUER_CERT';
}
