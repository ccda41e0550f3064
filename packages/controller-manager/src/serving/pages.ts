/** What the manager's listener answers: health, metrics, configuration and version, behind the access policy. */
import { createHash } from 'node:crypto';
import type { TLSSocket } from 'node:tls';
import type { HttpBindings } from '@hono/node-server';
import type { Logger } from '@outrigger/kube';
import { Hono, type Context } from 'hono';
import type { AccessPolicy } from '../access/access-policy.ts';
import type { AccessRequest } from '../access/user.ts';
import type { HealthChecks, HealthEndpoint, HealthReport } from './health-checks.ts';

export interface PagesOptions {
  readonly access: AccessPolicy;
  readonly health: HealthChecks;
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

export function createPages(options: PagesOptions): Hono {
  const { access, health, logger, metrics } = options;
  const app = new Hono();
  app.use(async (context, next) => {
    // Before anybody is asked who this is: what is not read stays in memory for so long.
    if (hasLongBody(context)) {
      context.header('Connection', 'close');
      return context.json(failure(413, `a body has at most ${LONGEST_BODY} bytes here, and says how many`), 413);
    }
    const decision = await access.decide(accessRequestOf(context));
    if (!decision.allowed) return context.json(failure(decision.status, decision.message), decision.status);
    const method = context.req.path === VERBOSITY && options.setVerbosity ? 'PUT' : 'GET';
    if (context.req.method !== method && !(method === 'GET' && context.req.method === 'HEAD')) {
      return context.json(failure(405, `${context.req.method} is not answered here: only ${method}`), 405);
    }
    await next();
    context.header('Cache-Control', 'no-cache, private');
    context.header('X-Content-Type-Options', 'nosniff');
    return undefined;
  });
  for (const endpoint of ENDPOINTS) {
    app.get(`/${endpoint}`, async (context) => {
      const exclude = context.req.queries('exclude') ?? [];
      const verbose = context.req.query('verbose') !== undefined;
      return answer(context, endpoint, await health.run(endpoint, { exclude, verbose }), logger);
    });
    app.get(`/${endpoint}/:name`, async (context) => {
      const report = await health.runOne(endpoint, context.req.param('name'));
      return report === undefined ? context.notFound() : answer(context, endpoint, report, logger);
    });
  }
  const { configz, flagz, setVerbosity, slis, statusz, version } = options;
  if (setVerbosity) {
    app.put(VERBOSITY, async (context) => {
      // Not read when it is long, or of no known length.
      const short = Number(context.req.header('content-length') ?? Infinity) <= 2;
      const text = short ? await context.req.text() : '';
      if (!/^\d{1,2}$/u.test(text)) return context.text('the body must be a whole number from 0 to 99\n', 400);
      setVerbosity(Number(text));
      logger.info('Verbosity changed', { v: Number(text) });
      return context.text(`successfully set the verbosity to ${text}\n`);
    });
  }
  app.get('/metrics', async (context) =>
    context.body(await metrics.render(), 200, { 'Content-Type': metrics.contentType }),
  );
  // Of what can be read: upstream too has its `/debug/flags/v` unlisted (k8s.io/apiserver, pkg/server/routes/flags.go).
  const paths = ['/configz', '/healthz', '/livez', '/metrics', '/readyz', '/version'];
  if (slis) {
    paths.push('/metrics/slis');
    app.get('/metrics/slis', async (context) =>
      context.body(await slis.render(), 200, { 'Content-Type': slis.contentType }),
    );
  }
  if (flagz) {
    paths.push('/flagz');
    app.get('/flagz', (context) => context.text(flagz()));
  }
  if (statusz) {
    paths.push('/statusz');
    app.get('/statusz', (context) => context.text(statusz(paths)));
  }
  for (const { answer: answerOf, path } of options.pages ?? []) {
    paths.push(path);
    app.get(path.endsWith('/') ? `${path}*` : path, async (context) => {
      const { body, status = 200 } = await answerOf(decoded(new URL(context.req.url).pathname).slice(path.length));
      if (status !== 200) return context.json(failure(status, String(body)), status);
      const text = JSON.stringify(body);
      const tag = `"${createHash('sha256').update(text).digest('base64url')}"`;
      context.header('ETag', tag);
      if (context.req.header('if-none-match') === tag) return context.body(null, 304);
      return context.body(text, 200, { 'Content-Type': 'application/json' });
    });
  }
  paths.sort();
  app.get('/configz', (context) => context.json(configz()));
  app.get('/version', (context) => context.json(version));
  app.get('/', (context) => context.json({ paths }));
  app.notFound((context) => context.text('404 page not found\n', 404));
  app.onError((error, context) => {
    logger.error('Page failed', { path: context.req.path, error });
    return context.text('internal server error\n', 500);
  });
  return app;
}

function answer(context: Context, endpoint: string, report: HealthReport, logger: Logger): Response {
  for (const { name, error } of report.failures) logger.warn('Health check failed', { endpoint, check: name, error });
  return context.text(report.text, report.healthy ? 200 : 500);
}

function hasLongBody({ req }: Context): boolean {
  return req.header('transfer-encoding') !== undefined || Number(req.header('content-length') ?? 0) > LONGEST_BODY;
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

const REASONS = {
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  413: 'RequestEntityTooLarge',
  500: 'InternalError',
  503: 'ServiceUnavailable',
} as const;

function failure(code: keyof typeof REASONS, message: string): Record<string, unknown> {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason: REASONS[code], code };
}

/** `env` is Node's request when a listener called, and nothing in a test without one. */
function accessRequestOf(context: Context): AccessRequest {
  const { method, path } = context.req;
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  if (incoming === undefined) return { method, path, headers: Object.fromEntries(context.req.raw.headers) };
  const socket = incoming.socket as Partial<TLSSocket>;
  // `authorized`: OpenSSL has found a chain to one of the authorities. To whose is the policy's to find out.
  const certificate = socket.authorized || lacksRootAlone(socket) ? socket.getPeerX509Certificate?.() : undefined;
  return { method, path, headers: incoming.headersDistinct, certificate };
}

/**
 * Whether OpenSSL misses nothing but the root above one of the authorities. Go trusts each authority by itself, and Node can do so
 * (`allowPartialTrustChain`), but `tls.Server` drops that option.
 */
function lacksRootAlone(socket: Partial<TLSSocket>): boolean {
  // The code of the last check that failed: dates, purposes and signatures are checked after the chain.
  return (socket.authorizationError as unknown) === 'UNABLE_TO_GET_ISSUER_CERT';
}
