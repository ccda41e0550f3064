/** What the webhook listener answers: one path a webhook, and health. Entry point: `createWebhookPages`. */
import { heldAs, withDeadline, type EventLoopWatchOptions, type LogFields } from '@outrigger/kube';
import { isApiServer } from '../access/api-server-caller.ts';
import { parseGoDuration } from '../flags/go-duration.ts';
import { onceAMinute } from '../logs/once-a-minute.ts';
import {
  jsonAnswer,
  textAnswer,
  withHeaders,
  type HttpAnswer,
  type HttpApp,
  type HttpRequest,
} from '../serving/http-app.ts';
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
  /** Only callers are answered whose certificate one of the listener's `clientAuthorities` has signed, and not a kubelet. Default: false. */
  readonly requireCertificate?: boolean;
  /** What the listener shows who asks for a name: PEM. Told to everybody, as a handshake tells it. Default: nothing is told. */
  readonly certificateFor?: (name: string) => string;
}

/** Its path; the name follows. The proxy of the API server verifies no certificate, and passes none on. */
export const SERVING_CERTIFICATE_PATH = '/serving-certificate/';

const HEALTH: ReadonlySet<string> = new Set(['/healthz', '/livez', '/readyz']);
const DEFAULT_MOST_AT_ONCE = 64;
/** Time for the answer's way back. */
const MARGIN_MS = 500;
/** The longest that this program's webhooks are registered with, without the margin. */
const LONGEST_MS = 4_500;

export function createWebhookPages(options: WebhookPagesOptions): HttpApp {
  const { certificateFor, clock, logger, metrics, mostAtOnce = DEFAULT_MOST_AT_ONCE, subsystem, webhooks } = options;
  const counted = createWebhookMetrics(metrics, subsystem);
  const reviewing: Reviewing = { ...options, memory: new ReviewMemory(mostAtOnce), isDue: onceAMinute(clock) };
  const failed = (error: unknown, path: string): HttpAnswer => {
    logger.error('Webhook request failed', { path, error });
    return textAnswer('internal server error', 500);
  };
  return async (request) => {
    const { method, path } = request;
    const webhook = webhooks.find((one) => one.path === path);
    if (webhook) {
      const since = clock.monotonic();
      const answered = await (method === 'POST'
        ? reviewed(webhook, request, reviewing).catch((error: unknown) => failed(error, path))
        : textAnswer('only POST is answered here', 405));
      counted.observe(webhook.name, answered.status, clock.monotonic() - since);
      return answered;
    }
    const isRead = method === 'GET' || method === 'HEAD';
    // The listener is up: that is all that can be said, as every webhook answers whatever befalls it.
    if (isRead && HEALTH.has(path)) return textAnswer('ok');
    const name = path.startsWith(SERVING_CERTIFICATE_PATH) ? path.slice(SERVING_CERTIFICATE_PATH.length) : '';
    if (!isRead || !certificateFor || !/^[^/]+$/u.test(name)) return textAnswer('404 Not Found', 404);
    try {
      return textAnswer(certificateFor(name));
    } catch (error) {
      return failed(error, path);
    }
  };
}

interface Reviewing extends WebhookPagesOptions {
  readonly memory: ReviewMemory;
  /** Whether a line of the log about this webhook is due. */
  readonly isDue: (webhook: string) => boolean;
}

async function reviewed(webhook: Webhook, request: HttpRequest, options: Reviewing): Promise<HttpAnswer> {
  const { incoming, query } = request;
  const { logger, memory, requireCertificate = false } = options;
  const caller = callerOf(request);
  // What is left of the body is not waited for.
  const refuse = (status: 400 | 401 | 413 | 415 | 429, why: string): HttpAnswer =>
    withHeaders(textAnswer(why, status), { Connection: 'close' });
  if (requireCertificate && !caller.trusted) return refuse(401, 'a certificate of the API server is needed');
  if (!/^application\/json\s*(?:;|$)/iu.test(incoming.headers['content-type'] ?? '')) {
    return refuse(415, 'Content-Type must be application/json');
  }
  if (Number(incoming.headers['content-length'] ?? 0) > MOST_BYTES) {
    return refuse(413, `a review is at most ${MOST_BYTES} bytes`);
  }
  try {
    using held = memory.hold(caller);
    const review = readReview(await held.read(incoming));
    // Whatever these are: nobody has checked them, and the log cuts what is long. A controller may have the name of the webhook.
    const { name, namespace } =
      ((review.object ?? review.oldObject) as { metadata?: LogFields | null } | undefined)?.metadata ?? {};
    const answer = await heldAs(`${webhook.name}-webhook`, { ...options, about: { namespace, name } }, () =>
      answerInTime(webhook, review, query.get('timeout') ?? '', options),
    );
    const { dryRun, operation, uid } = review;
    logger.verbose(4, 'Webhook answered', { webhook: webhook.name, uid, operation, dryRun, refused: answer.refused });
    return jsonAnswer(reviewOf(uid, answer));
  } catch (error) {
    if (!(error instanceof ReviewError)) throw error;
    return refuse(error.status, error.message);
  }
}

function callerOf({ incoming }: HttpRequest): Caller {
  const { socket } = incoming;
  return { peer: socket.remoteAddress ?? '', trusted: isApiServer(socket) };
}

async function answerInTime(
  webhook: Webhook,
  request: AdmissionRequest,
  timeout: string,
  { clock, isDue, logger, redact }: Reviewing,
): Promise<AdmissionAnswer> {
  const limitMs = limitOf(timeout);
  try {
    // One that does not look at its signal must not keep the API server waiting.
    const answer = await withDeadline({ clock, timeoutMs: limitMs, what: `webhook ${webhook.name}` }, (signal) =>
      webhook.answer(request, signal),
    );
    const { refused, warnings = [] } = answer;
    return { ...answer, ...(refused !== undefined && { refused: redact(refused) }), warnings: warnings.map(redact) };
  } catch (error) {
    if (isDue(webhook.name)) {
      logger.warn('Webhook failed; the object is admitted unchanged', { webhook: webhook.name, error });
    }
    const why = redact(error instanceof Error ? error.message : String(error));
    return { warnings: [`${webhook.name}: admitted unchanged: ${why}`] };
  }
}

/** The API server says how long it waits: `?timeout=5s`. */
function limitOf(timeout: string): number {
  const waitsMs = parseGoDuration(timeout) ?? Infinity;
  return Math.min(LONGEST_MS, Math.max(waitsMs / 2, waitsMs - MARGIN_MS));
}
