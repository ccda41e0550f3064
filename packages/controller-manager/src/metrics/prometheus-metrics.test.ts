import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { PrometheusMetrics } from './prometheus-metrics.ts';

test('renders counters, gauges and histograms in the text format', async () => {
  const metrics = new PrometheusMetrics();
  const adds = metrics.counter({ name: 'workqueue_adds_total', help: 'Adds', labels: ['name'] });
  adds.inc({ name: 'node' });
  adds.inc({ name: 'node' }, 2);
  metrics.gauge({ name: 'depth', help: 'Depth' }).set(4);
  metrics.histogram({ name: 'seconds', help: 'Seconds', buckets: [1, 2] }).observe(1.5);
  const text = await metrics.render();
  assert.match(text, /^workqueue_adds_total\{name="node"\} 3$/mu);
  assert.match(text, /^depth 4$/mu);
  assert.match(text, /^seconds_bucket\{le="1"\} 0$/mu);
  assert.match(text, /^seconds_bucket\{le="2"\} 1$/mu);
  assert.match(text, /^seconds_count 1$/mu);
  assert.match(metrics.contentType, /^text\/plain; version=0\.0\.4/u);
});

test('the same name gives the same metric; another shape of it is a mistake', async () => {
  const metrics = new PrometheusMetrics();
  metrics.counter({ name: 'a_total', help: 'A', labels: ['x'] }).inc({ x: '1' });
  metrics.counter({ name: 'a_total', help: 'A', labels: ['x'] }).inc({ x: '1' });
  assert.match(await metrics.render(), /a_total\{x="1"\} 2/u);
  assert.throws(() => metrics.counter({ name: 'a_total', help: 'A', labels: ['y'] }), /a_total is a counter/u);
  assert.throws(() => metrics.gauge({ name: 'a_total', help: 'A', labels: ['x'] }), /not a gauge/u);
});

test('two registries share nothing', async () => {
  const [one, two] = [new PrometheusMetrics(), new PrometheusMetrics()];
  one.counter({ name: 'a_total', help: 'A' }).inc();
  assert.doesNotMatch(await two.render(), /a_total/u);
});

test('collectors run before each scrape, and one that throws spoils nothing', async () => {
  const metrics = new PrometheusMetrics();
  const gauge = metrics.gauge({ name: 'scrapes', help: 'Scrapes' });
  let scrapes = 0;
  metrics.onCollect(() => {
    throw new Error('broken');
  });
  metrics.onCollect(() => gauge.set(++scrapes));
  await metrics.render();
  assert.match(await metrics.render(), /^scrapes 2$/mu);
});

test('a collector whose signal has aborted is not called, and not kept', async () => {
  const metrics = new PrometheusMetrics();
  const [life, over] = [new AbortController(), AbortSignal.abort()];
  let calls = 0;
  metrics.onCollect(() => calls++, life.signal);
  metrics.onCollect(() => assert.fail('called'), over);
  await metrics.render();
  life.abort();
  await metrics.render();
  assert.equal(calls, 1);
  assert.equal(getEventListeners(life.signal, 'abort').length, 0);
});

test("process metrics have the names of Go's process collector", async () => {
  const text = await new PrometheusMetrics({ processMetrics: true }).render();
  for (const name of [
    'process_cpu_seconds_total',
    'process_resident_memory_bytes',
    'process_virtual_memory_bytes',
    'process_start_time_seconds',
    'process_open_fds',
    'process_max_fds',
    'nodejs_eventloop_lag_p99_seconds',
  ]) {
    assert.match(text, new RegExp(`^${name} `, 'mu'));
  }
});
