import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noMetrics, silentLogger, type LogFields } from '@outrigger/kube';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { FakeClock } from '@outrigger/testing';
import { createAccessPolicy, healthPaths } from '../access/access-policy.ts';
import { askApp, type Asked } from './ask-app.suite.ts';
import { HealthChecks } from './health-checks.ts';
import { renderFlagz, renderStatusz } from './debug-pages.ts';
import { createPages, type PagesOptions } from './pages.ts';

function pages(options: Partial<PagesOptions> & { readonly bindAddress?: string } = {}): {
  readonly health: HealthChecks;
  readonly get: (path: string, asked?: Asked) => Promise<{ status: number; text: string; headers: Headers }>;
} {
  const health = new HealthChecks();
  const app = createPages({
    access: createAccessPolicy({
      bindAddress: options.bindAddress ?? '127.0.0.1',
      alwaysAllow: healthPaths,
      insecureLoopback: true,
      clock: new FakeClock(),
      logger: silentLogger,
      metrics: noMetrics,
    }),
    health,
    clock: new FakeClock(),
    logger: silentLogger,
    metrics: new PrometheusMetrics(),
    configz: () => ({ 'example.io': { clusterName: 'test' } }),
    version: { gitVersion: 'v0.1.0' },
    ...options,
  });
  return {
    health,
    get: async (path, asked) => {
      const response = await askApp(app, path, asked);
      return { status: response.status, text: await response.text(), headers: response.headers };
    },
  };
}

test('serves health, metrics, configuration and version', async () => {
  const { get } = pages();
  assert.equal((await get('/healthz')).text, 'ok');
  assert.match((await get('/livez?verbose')).text, /livez check passed/u);
  assert.equal((await get('/readyz/ping')).text, 'ok');
  assert.equal((await get('/readyz/none')).status, 404);
  assert.match((await get('/metrics')).headers.get('content-type') ?? '', /version=0\.0\.4/u);
  assert.deepEqual(JSON.parse((await get('/configz')).text), { 'example.io': { clusterName: 'test' } });
  assert.deepEqual(JSON.parse((await get('/version')).text), { gitVersion: 'v0.1.0' });
  assert.match((await get('/')).text, /\/metrics/u);
  assert.equal((await get('/nothing')).status, 404);
});

test('a failing check is a 500 without its reason; excluding it is a 200', async () => {
  const { get, health } = pages();
  health.add({
    name: 'cloud',
    check: () => {
      throw new Error('hunter2');
    },
  });
  const report = await get('/healthz');
  assert.equal(report.status, 500);
  assert.doesNotMatch(report.text, /hunter2/u);
  assert.equal((await get('/healthz?exclude=cloud')).status, 200);
});

test('a page that has not changed is not sent again to who has it', async () => {
  let items = ['a'];
  const { get } = pages({ pages: [{ path: '/list/', answer: () => Promise.resolve({ body: { items } }) }] });
  const first = await get('/list/');
  assert.deepEqual(JSON.parse(first.text), { items });
  assert.match(first.headers.get('content-type') ?? '', /^application\/json/u);
  const tag = first.headers.get('etag') ?? '';
  const again = await get('/list/', { headers: { 'if-none-match': tag } });
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', tag]);
  items = ['b'];
  assert.equal((await get('/list/', { headers: { 'if-none-match': tag } })).status, 200);
});

test('a check that fails is logged once a minute at each endpoint, however often it is asked for', async () => {
  const lines: string[] = [];
  const clock = new FakeClock();
  const warn = (_message: string, fields: LogFields = {}): void =>
    void lines.push(`${String(fields['endpoint'])} ${String(fields['check'])}`);
  const { get, health } = pages({ clock, logger: { ...silentLogger, warn } });
  for (const name of ['a', 'b']) health.add({ name, check: () => Promise.reject(new Error('down')) });
  const flood = async (): Promise<void> => {
    for (const path of ['/healthz', '/livez?exclude=b', '/livez/b']) {
      for (let i = 0; i < 10; i++) assert.equal((await get(path)).status, 500);
    }
  };
  const once = ['healthz a', 'healthz b', 'livez a', 'livez b'];
  await flood();
  await clock.advance(59_999);
  await flood();
  assert.deepEqual(lines, once);
  await clock.advance(1);
  await flood();
  assert.deepEqual(lines, [...once, ...once]);
});

test('from outside only health is served, and the refusal says what to do', async () => {
  const { get } = pages({ bindAddress: '0.0.0.0' });
  assert.equal((await get('/healthz')).status, 200);
  assert.equal((await get('/readyz/ping')).status, 200);
  for (const path of ['/metrics', '/configz', '/version', '/nothing', '/']) {
    const refusal = await get(path);
    assert.equal(refusal.status, 403, path);
    assert.match(refusal.text, /--authorization-always-allow-paths/u);
  }
});

test('a path leads to no other page than the one that was allowed', async () => {
  const { get } = pages({ bindAddress: '0.0.0.0' });
  for (const path of ['/healthz/../metrics', '/healthz/%2e%2e/metrics', '/healthz/..%2Fmetrics', '/healthz//ping']) {
    assert.equal((await get(path)).status, 404, path);
  }
  for (const path of ['//healthz', '/%6detrics', '/./healthz']) assert.equal((await get(path)).status, 403, path);
  assert.equal((await get('/%68ealthz')).status, 200);
});

test('only GET, and a broken page tells nothing', async () => {
  const { get } = pages({
    configz: () => {
      throw new Error('hunter2');
    },
  });
  assert.equal((await get('/healthz', { method: 'POST' })).status, 405);
  const broken = await get('/configz');
  assert.equal(broken.status, 500);
  assert.doesNotMatch(broken.text, /hunter2/u);
});

test('health checks are counted where all of them are asked for', async () => {
  const slis = new PrometheusMetrics();
  const health = new HealthChecks({ metrics: slis });
  const { get } = pages({ health, slis });
  let broken = true;
  health.add({
    name: 'cloud',
    check: () => {
      if (broken) throw new Error('down');
    },
  });
  await get('/healthz');
  broken = false;
  await get('/healthz?verbose');
  await get('/readyz?exclude=cloud');
  const { text } = await get('/metrics/slis');
  assert.match(text, /^kubernetes_healthcheck\{name="cloud",type="healthz"\} 1$/mu);
  assert.match(text, /^kubernetes_healthchecks_total\{name="cloud",type="healthz",status="error"\} 1$/mu);
  assert.match(text, /^kubernetes_healthchecks_total\{name="ping",type="readyz",status="success"\} 1$/mu);
  assert.doesNotMatch(text, /name="cloud",type="readyz"/u);
});

test('flags and status are shown where a program has them, and the index lists what can be read', async () => {
  const clock = new FakeClock();
  const { get } = pages({
    pages: [{ path: '/more/', answer: () => ({ body: {} }) }],
    setVerbosity: () => {},
    flagz: () => renderFlagz('manager', [['v', '0']]),
    statusz: (paths) =>
      renderStatusz({ component: 'manager', clock, paths, startedAt: clock.now() - 61_500, version: 'v1.2.3' }),
  });
  assert.match((await get('/flagz')).text, /^\nmanager flagz\nWarning: .*\n\nv=0\n$/u);
  const status = (await get('/statusz')).text;
  assert.match(status, /^Up: 1m1s\nNode version: v\d+/mu);
  const readable = ['configz', 'flagz', 'healthz', 'livez', 'metrics', 'more/', 'readyz', 'statusz', 'version'];
  const paths = readable.map((path) => `/${path}`);
  assert.equal(/^Paths: (.*)$/mu.exec(status)?.[1], paths.join(' '));
  assert.deepEqual(JSON.parse((await get('/')).text), { paths });
  assert.equal((await pages().get('/flagz')).status, 404);
});

test('the verbosity is set by PUT where a program has it set, and by whoever may', async () => {
  const set: number[] = [];
  const { get } = pages({ setVerbosity: (level) => void set.push(level) });
  const put = (body: string): Asked => ({
    method: 'PUT',
    body,
    headers: { 'content-length': String(body.length) },
  });
  assert.equal((await get('/debug/flags/v', put('4'))).status, 200);
  for (const wrong of ['', '-1', '4x', '1000'])
    assert.equal((await get('/debug/flags/v', put(wrong))).status, 400, wrong);
  assert.equal((await get('/debug/flags/v', { method: 'PUT', body: '4' })).status, 400, 'of no known length');
  assert.equal((await get('/debug/flags/v')).status, 405);
  assert.deepEqual(set, [4]);
  assert.equal((await pages().get('/debug/flags/v', put('4'))).status, 405);
  const outside = pages({ bindAddress: '0.0.0.0', setVerbosity: (level) => void set.push(level) });
  assert.equal((await outside.get('/debug/flags/v', put('9'))).status, 403);
  assert.deepEqual(set, [4]);
});

test('what has a long body, or one of no known length, is refused before anybody is asked who it is', async () => {
  const { get } = pages({ access: { decide: () => assert.fail('asked') } });
  for (const headers of [{ 'content-length': '1025' }, { 'transfer-encoding': 'chunked' }]) {
    const refusal = await get('/healthz', { method: 'POST', headers });
    assert.deepEqual([refusal.status, refusal.headers.get('connection')], [413, 'close']);
  }
});
