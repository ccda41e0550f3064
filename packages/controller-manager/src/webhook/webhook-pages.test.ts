import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger, systemClock, type LogFields } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { createLogging } from '../logs/logging.ts';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { askApp } from '../serving/ask-app.suite.ts';
import type { HttpApp } from '../serving/http-app.ts';
import type { AdmissionRequest } from './admission-review.ts';
import { createWebhookPages, type Webhook } from './webhook-pages.ts';

interface Response {
  readonly apiVersion: string;
  readonly response: {
    readonly uid: string;
    readonly allowed: boolean;
    readonly patch?: string;
    patchType?: string;
    warnings?: string[];
  };
}

class Rig {
  readonly clock = new FakeClock();
  readonly metrics = new PrometheusMetrics();
  readonly seen: AdmissionRequest[] = [];
  /** The Warnings of the log. */
  readonly lines: string[] = [];
  readonly app: HttpApp;

  constructor(answer: Webhook['answer'], mostAtOnce?: number) {
    this.app = createWebhookPages({
      webhooks: [
        {
          name: 'test',
          path: '/mutate/test',
          answer: (request, signal) => {
            this.seen.push(request);
            return answer(request, signal);
          },
        },
      ],
      clock: this.clock,
      logger: {
        ...silentLogger,
        warn: (message, { webhook }: LogFields = {}) => void this.lines.push(`${message}: ${String(webhook)}`),
      },
      metrics: this.metrics,
      subsystem: 'test_webhook',
      redact: (text) => text.replaceAll('s3cret', '<redacted>'),
      ...(mostAtOnce !== undefined && { mostAtOnce }),
    });
  }

  async post(body: unknown, { query = '?timeout=5s', type = 'application/json' } = {}): Promise<globalThis.Response> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const headers = { 'content-type': type };
    return askApp(this.app, `/mutate/test${query}`, { method: 'POST', headers, body: text });
  }
}

const review = {
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'u-1', operation: 'CREATE', object: { kind: 'X' }, oldObject: null, dryRun: true },
};

test('an object is let through with its changes and warnings', async () => {
  const operations = [{ op: 'add', path: '/a', value: 'é' }] as const;
  const rig = new Rig(async () => ({ operations, warnings: ['two\nlines', 'x'.repeat(400)] }));
  const response = await rig.post(review);
  assert.equal(response.headers.get('content-type'), 'application/json');
  const body = (await response.json()) as Response;
  assert.deepEqual(
    [response.status, body.apiVersion, body.response.uid, body.response.allowed],
    [200, 'admission.k8s.io/v1', 'u-1', true],
  );
  assert.equal(body.response.patchType, 'JSONPatch');
  assert.deepEqual(JSON.parse(Buffer.from(body.response.patch ?? '', 'base64').toString()), operations);
  assert.deepEqual(
    body.response.warnings?.map(({ length }) => length),
    [9, 256],
  );
  assert.deepEqual(rig.seen, [
    { uid: 'u-1', operation: 'CREATE', object: { kind: 'X' }, oldObject: undefined, dryRun: true },
  ]);
});

test('without changes there is no patch', async () => {
  const { response } = (await (await new Rig(async () => ({})).post(review)).json()) as Response;
  assert.deepEqual(response, { uid: 'u-1', allowed: true });
});

test('a validating webhook refuses, in one line and without secrets', async () => {
  const rig = new Rig(async () => ({ refused: 'the name\n s3cret is taken', warnings: ['see s3cret'] }));
  const response = await rig.post(review);
  assert.equal(response.status, 200);
  assert.deepEqual(((await response.json()) as Response).response, {
    uid: 'u-1',
    allowed: false,
    status: { code: 422, reason: 'Invalid', message: 'the name <redacted> is taken' },
    warnings: ['see <redacted>'],
  });
});

test('a webhook that fails lets the object through with a warning, without secrets', async () => {
  const rig = new Rig(() => Promise.reject(new Error('the token s3cret is wrong')));
  const { response } = (await (await rig.post(review)).json()) as Response;
  assert.deepEqual(response, {
    uid: 'u-1',
    allowed: true,
    warnings: ['test: admitted unchanged: the token <redacted> is wrong'],
  });
});

test('webhooks that fail are one line a minute in the log, however many reviews there are', async () => {
  const rig = new Rig(() => Promise.reject(new Error('down')));
  const line = 'Webhook failed; the object is admitted unchanged: test';
  for (let i = 0; i < 50; i++) await rig.post(review);
  assert.deepEqual(rig.lines, [line]);
  await rig.clock.advance(60_000);
  await rig.post(review);
  assert.deepEqual(rig.lines, [line, line]);
});

for (const [query, afterMs] of [
  ['?timeout=5s', 4_500],
  ['?timeout=30s', 4_500],
  ['', 4_500],
  ['?timeout=nonsense', 4_500],
  ['?timeout=2s', 1_500],
  ['?timeout=600ms', 300],
] as const) {
  test(`a webhook that never answers lets the object through in time: ${query || 'no limit told'}`, async () => {
    let aborted = false;
    let begun = (): void => {};
    const started = new Promise<void>((resolve) => (begun = resolve));
    const rig = new Rig((_request, signal) => {
      signal.addEventListener('abort', () => (aborted = true));
      begun();
      return new Promise(() => {});
    });
    const answer = rig.post(review, { query });
    await started;
    await rig.clock.advance(afterMs - 1);
    assert.equal(aborted, false);
    await rig.clock.advance(1);
    const { response } = (await (await answer).json()) as Response;
    assert.equal(response.allowed, true);
    assert.match(response.warnings?.[0] ?? '', /^test: admitted unchanged: webhook test: no answer within/u);
    assert.equal(aborted, true);
  });
}

test('what is no review is refused, and no webhook hears of it', async () => {
  const rig = new Rig(async () => ({}));
  const statusOf = async (...args: Parameters<Rig['post']>): Promise<number> => (await rig.post(...args)).status;
  assert.equal(await statusOf('not JSON'), 400);
  assert.equal(await statusOf('null'), 400);
  assert.equal(await statusOf({ ...review, apiVersion: 'admission.k8s.io/v1beta1' }), 400);
  assert.equal(await statusOf({ ...review, request: {} }), 400);
  assert.equal(await statusOf({ ...review, request: { uid: 'u', operation: 'LOOK' } }), 400);
  assert.equal(await statusOf(review, { type: 'text/plain' }), 415);
  assert.equal(await statusOf(`"${'x'.repeat(8 * 1024 * 1024)}"`), 413);
  assert.equal((await askApp(rig.app, '/mutate/test')).status, 405);
  assert.equal((await askApp(rig.app, '/mutate/other', { method: 'POST' })).status, 404);
  assert.deepEqual(rig.seen, []);
  assert.equal((await askApp(rig.app, '/healthz')).status, 200);
});

test('what the listener shows who asks for a name is told to everybody, and by default to nobody', async () => {
  const base = { webhooks: [], clock: new FakeClock(), logger: silentLogger, metrics: new PrometheusMetrics() };
  const options = { ...base, subsystem: 'test_webhook', redact: (text: string) => text, requireCertificate: true };
  const app = createWebhookPages({ ...options, certificateFor: (name) => `PEM of ${name}` });
  const path = '/serving-certificate/a.kube-system.svc';
  assert.equal(await (await askApp(app, path)).text(), 'PEM of a.kube-system.svc');
  assert.equal((await askApp(createWebhookPages(options), path)).status, 404);
});

test('more reviews at once than it can take are refused', async () => {
  const enders: (() => void)[] = [];
  let begun = (): void => {};
  const started = new Promise<void>((resolve) => (begun = resolve));
  const rig = new Rig(() => {
    begun();
    return new Promise((resolve) => enders.push(() => resolve({})));
  }, 1);
  const first = rig.post(review);
  await started;
  assert.equal((await rig.post(review)).status, 429);
  for (const end of enders) end();
  assert.equal((await first).status, 200);
});

test('requests are counted by webhook and status', async () => {
  const rig = new Rig(async () => ({}));
  await rig.post(review);
  await rig.post('not JSON');
  const text = await rig.metrics.render();
  assert.match(text, /test_webhook_request_total\{code="200",webhook="test"\} 1/u);
  assert.match(text, /test_webhook_request_total\{code="400",webhook="test"\} 1/u);
  assert.match(text, /test_webhook_request_duration_seconds_count\{code="200",webhook="test"\} 1/u);
});

test('a review that holds the event loop is laid to its webhook and its object, of whose names the log has only the beginning', async () => {
  let held = 0;
  let log = '';
  const clock = { ...systemClock, monotonic: () => held };
  const metrics = new PrometheusMetrics();
  const destination = { write: (line: string) => void (log += line) };
  const { logger } = createLogging({ clock, component: 'test', destination, format: 'text' });
  const app = createWebhookPages({
    webhooks: ['quick', 'slow'].map((name) => ({
      name,
      path: `/${name}`,
      answer: () => {
        if (name === 'slow') held += 1_500;
        return Promise.resolve({});
      },
    })),
    clock,
    logger,
    metrics,
    subsystem: 'test_webhook',
    redact: (text) => text,
    processorTime: () => held,
  });
  const ask = async (webhook: string, request: object): Promise<void> => {
    const body = JSON.stringify({ ...review, request: { ...review.request, ...request } });
    const headers = { 'content-type': 'application/json' };
    assert.equal((await askApp(app, `/${webhook}`, { method: 'POST', headers, body })).status, 200);
  };
  const metadata = { namespace: 'default', name: 'web' };
  await ask('quick', { object: { metadata } });
  assert.equal(log, '');
  await ask('slow', { object: { metadata } });
  assert.match(log, /held the event loop.* namespace="default" name="web" controller="slow-webhook" held="1500ms"\n$/u);
  await ask('slow', { operation: 'DELETE', object: null, oldObject: { metadata: { name: 'gone' } } });
  assert.match(log, / name="gone" controller="slow-webhook"/u);
  log = '';
  await ask('slow', { object: { metadata: { ...metadata, name: 'x'.repeat(100_000) } } });
  assert.ok(log.includes('namespace="default"') && log.length < 20_000, `${log.length} characters`);
  for (const object of [null, 'text', { metadata: null }, { metadata: { name: { toString: 1 } } }]) {
    await ask('slow', { object });
  }
  assert.match(await metrics.render(), /^outrigger_event_loop_held_total\{controller="slow-webhook"\} 7$/mu);
});
