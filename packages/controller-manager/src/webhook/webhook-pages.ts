/** What the webhook listener answers: one path a webhook, and health. Entry point: `createWebhookPages`. */
import { Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import type { HttpBindings } from '@hono/node-server';
import { heldAs, withDeadline, type EventLoopWatchOptions, type LogFields } from '@outrigger/kube';
import { Hono, type Context } from 'hono';
import { parseGoDuration } from '../flags/go-duration.ts';
import { ReviewError, readReview, reviewOf, type AdmissionAnswer, type AdmissionRequest } from './admission-review.ts';
import { MOST_BYTES, ReviewMemory, type Caller } from './review-memory.ts';
import { createWebhookMetrics } from './webhook-metrics.ts';

/** Mutating or validating. What it cannot decide in time passes unchanged, with a warning: only its own answer refuses. */
export interface Webhook {
  /** As in `--webhooks`, in logs and metrics. */
  readonly name: string;
  /** `/mutate/persistent-volumes`. */
  readonly path: string;
  /** May throw. `signal` aborts when the answer would come too late. */
  answer(request: AdmissionRequest, signal: AbortSignal): Promise<AdmissionAnswer>;
}

/** The watch: what a review holds is laid to its webhook. */
export interface WebhookPagesOptions extends Omit<EventLoopWatchOptions, 'signal'> {
  readonly webhooks: readonly Webhook[];
  /** What the names of the metrics begin with: `cloud_provider_webhook`. */
  readonly subsystem: string;
  /** Takes secrets out of what a caller is told. */
  readonly redact: (text: string) => string;
  /** Reviews of one caller that are answered at a time, and half of those of all; more are answered 429. Default: 64. */
  readonly mostAtOnce?: number;
  /** Only callers are answered whose certificate one of the listener's `clientAuthorities` has signed. Default: false. */
  readonly requireCertificate?: boolean;
  /** What the listener shows who asks for a name: PEM. Told to everybody, as a handshake tells it. Default: nothing is told. */
  readonly certificateFor?: (name: string) => string;
}

/** Its path; the name follows. The proxy of the API server verifies no certificate, and passes none on. */
export const SERVING_CERTIFICATE_PATH = '/serving-certificate/';

const DEFAULT_MOST_AT_ONCE = 64;
/** Time for the answer's way back. */
const MARGIN_MS = 500;
/** The longest that this program's webhooks are registered with, without the margin. */
const LONGEST_MS = 4_500;

export function createWebhookPages(options: WebhookPagesOptions): Hono {
  const { clock, logger, metrics, mostAtOnce = DEFAULT_MOST_AT_ONCE, subsystem, webhooks } = options;
  const { certificateFor, requireCertificate = false } = options;
  const counted = createWebhookMetrics(metrics, subsystem);
  const app = new Hono();
  const memory = new ReviewMemory(mostAtOnce);
  // The listener is up: that is all that can be said, as every webhook answers whatever befalls it.
  for (const path of ['/healthz', '/livez', '/readyz']) app.get(path, (context) => context.text('ok'));
  if (certificateFor) {
    app.get(`${SERVING_CERTIFICATE_PATH}:name`, (context) => context.text(certificateFor(context.req.param('name'))));
  }
  for (const webhook of webhooks) {
    app.use(webhook.path, async (context, next) => {
      const since = clock.monotonic();
      await next();
      counted.observe(webhook.name, context.res.status, clock.monotonic() - since);
    });
    app.post(webhook.path, async (context) => {
      const caller = callerOf(context);
      const refuse = (status: 400 | 401 | 413 | 415 | 429, why: string): Response => {
        // What is left of the body is not waited for.
        context.header('Connection', 'close');
        return context.text(why, status);
      };
      if (requireCertificate && !caller.trusted) return refuse(401, 'a certificate of the API server is needed');
      if (!/^application\/json\s*(?:;|$)/iu.test(context.req.header('content-type') ?? '')) {
        return refuse(415, 'Content-Type must be application/json');
      }
      if (Number(context.req.header('content-length') ?? 0) > MOST_BYTES) {
        return refuse(413, `a review is at most ${MOST_BYTES} bytes`);
      }
      try {
        using held = memory.hold(caller);
        const request = readReview(await held.read(bodyOf(context)));
        // Whatever these are: nobody has checked them, and the log cuts what is long. A controller may have the name of the webhook.
        const { name, namespace } =
          ((request.object ?? request.oldObject) as { metadata?: LogFields | null } | undefined)?.metadata ?? {};
        const answer = await heldAs(`${webhook.name}-webhook`, { ...options, about: { namespace, name } }, () =>
          answerInTime(webhook, request, context, options),
        );
        const { dryRun, operation, uid } = request;
        logger.verbose(4, 'Webhook answered', {
          webhook: webhook.name,
          uid,
          operation,
          dryRun,
          refused: answer.refused,
        });
        return context.json(reviewOf(uid, answer));
      } catch (error) {
        if (!(error instanceof ReviewError)) throw error;
        return refuse(error.status, error.message);
      }
    });
    app.all(webhook.path, (context) => context.text('only POST is answered here', 405));
  }
  app.onError((error, context) => {
    logger.error('Webhook request failed', { path: context.req.path, error });
    return context.text('internal server error', 500);
  });
  return app;
}

/** `env` is Node's request when a listener called, and nothing in a test without one. */
function incomingOf({ env }: Context): HttpBindings['incoming'] | undefined {
  return ((env ?? {}) as Partial<HttpBindings>).incoming;
}

function callerOf(context: Context): Caller {
  const socket = incomingOf(context)?.socket as Partial<TLSSocket> | undefined;
  return { peer: socket?.remoteAddress ?? '', trusted: socket?.authorized === true };
}

function bodyOf(context: Context): Readable {
  const incoming = incomingOf(context);
  if (incoming) return incoming;
  const { body } = context.req.raw;
  return body ? Readable.fromWeb(body) : Readable.from([]);
}

async function answerInTime(
  webhook: Webhook,
  request: AdmissionRequest,
  context: Context,
  { clock, logger, redact }: WebhookPagesOptions,
): Promise<AdmissionAnswer> {
  const limitMs = limitOf(context.req.query('timeout'));
  try {
    // One that does not look at its signal must not keep the API server waiting.
    const answer = await withDeadline({ clock, timeoutMs: limitMs, what: `webhook ${webhook.name}` }, (signal) =>
      webhook.answer(request, signal),
    );
    const { refused, warnings = [] } = answer;
    return { ...answer, ...(refused !== undefined && { refused: redact(refused) }), warnings: warnings.map(redact) };
  } catch (error) {
    logger.warn('Webhook failed; the object is admitted unchanged', { webhook: webhook.name, error });
    const why = redact(error instanceof Error ? error.message : String(error));
    return { warnings: [`${webhook.name}: admitted unchanged: ${why}`] };
  }
}

/** The API server says how long it waits: `?timeout=5s`. */
function limitOf(timeout: string | undefined): number {
  const waitsMs = parseGoDuration(timeout ?? '') ?? Infinity;
  return Math.min(LONGEST_MS, Math.max(waitsMs / 2, waitsMs - MARGIN_MS));
}
