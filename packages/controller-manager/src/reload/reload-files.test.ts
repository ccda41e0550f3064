import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger, type Logger } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { PrometheusMetrics } from '../metrics/prometheus-metrics.ts';
import { reloadFiles } from './reload-files.ts';

class Bench {
  readonly clock: FakeClock = new FakeClock();
  readonly metrics: PrometheusMetrics = new PrometheusMetrics();
  readonly applied: string[] = [];
  readonly warnings: unknown[] = [];
  readonly stop: AbortController = new AbortController();
  readonly files: Record<string, string>;
  /** The files beside them. */
  readonly also: string[];
  /** Throws for what must not be applied. */
  check: (text: string) => void = () => {};
  readonly done: Promise<void>;

  constructor(files: Record<string, string>, also: string[] = [], beside: Record<string, string> = {}) {
    this.files = { ...files, ...beside };
    this.also = also;
    const logger: Logger = { ...silentLogger, warn: (_message, fields) => void this.warnings.push(fields?.['error']) };
    this.done = reloadFiles({
      name: 'cloud-config',
      paths: Object.keys(files),
      current: Object.values(files),
      also: () => this.also,
      apply: (texts) => {
        this.check(texts.join());
        this.applied.push(texts.join());
        return Promise.resolve();
      },
      clock: this.clock,
      logger,
      metrics: this.metrics,
      signal: this.stop.signal,
      readFile: (path) => {
        const text = this.files[path];
        return text === undefined ? Promise.reject(new Error(`no ${path}`)) : Promise.resolve(text);
      },
    });
  }

  async look(): Promise<void> {
    await this.clock.advance(10_000);
  }

  /** A look, and the second one at what has changed. */
  async tick(): Promise<void> {
    await this.look();
    await this.clock.advance(1_000);
  }

  async metric(name: string): Promise<string | undefined> {
    return new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'mu').exec(await this.metrics.render())?.[1];
  }
}

test('what has changed is applied once', async () => {
  const bench = new Bench({ a: '1' });
  await bench.tick();
  assert.deepEqual(bench.applied, []);
  bench.files['a'] = '2';
  await bench.tick();
  await bench.tick();
  assert.deepEqual(bench.applied, ['2']);
  assert.equal(await bench.metric('outrigger_reload_successful'), '1');
  bench.stop.abort();
  await bench.done;
});

test('what is written in place is applied once it is whole: half of it may be valid, and say something else', async () => {
  const bench = new Bench({ a: 'open=no\n' });
  bench.files['a'] = '';
  await bench.look();
  for (const text of ['region=b\n', 'region=b\nopen=', 'region=b\nopen=no\n']) {
    bench.files['a'] = text;
    await bench.clock.advance(999);
    assert.deepEqual(bench.applied, []);
    await bench.clock.advance(1);
  }
  assert.deepEqual(bench.applied, []);
  await bench.clock.advance(1_000);
  assert.deepEqual(bench.applied, ['region=b\nopen=no\n']);
  bench.stop.abort();
  await bench.done;
});

test('a file that is emptied and has its old text again, as often as that is seen, changes nothing', async () => {
  const bench = new Bench({ a: '1' });
  for (let i = 0; i < 3; i++) {
    bench.files['a'] = '';
    while (bench.clock.nextTimerIn !== 1_000) await bench.clock.advance(500);
    bench.files['a'] = '1';
    await bench.clock.advance(20_000);
  }
  assert.deepEqual(bench.applied, []);
  bench.stop.abort();
  await bench.done;
});

test('a file beside the texts that is written in place is waited for, too', async () => {
  const bench = new Bench({ a: '1' }, ['ca'], { ca: 'old' });
  await bench.clock.settle();
  bench.files['ca'] = 'n';
  await bench.look();
  bench.files['ca'] = 'new';
  await bench.clock.advance(1_000);
  assert.deepEqual(bench.applied, []);
  await bench.clock.advance(1_000);
  assert.deepEqual(bench.applied, ['1']);
  bench.stop.abort();
  await bench.done;
});

test('what is refused is said once, shows in the metric, and is tried again when it changes or after a minute', async () => {
  const bench = new Bench({ a: '1' });
  let tries = 0;
  bench.check = (text) => {
    tries++;
    if (text.startsWith('bad')) throw new Error('line 1: bad');
  };
  bench.files['a'] = 'bad';
  for (let i = 0; i < 5; i++) await bench.tick();
  assert.deepEqual([tries, bench.warnings.length, bench.applied], [1, 1, []]);
  assert.equal(await bench.metric('outrigger_reload_successful'), '0');
  for (let i = 0; i < 5; i++) await bench.tick();
  assert.deepEqual([tries, bench.warnings.length], [2, 1]);
  bench.files['a'] = 'bad, too';
  await bench.tick();
  assert.deepEqual([tries, bench.warnings.length], [3, 2]);
  bench.files['a'] = 'good';
  await bench.tick();
  assert.deepEqual(bench.applied, ['good']);
  assert.equal(await bench.metric('outrigger_reload_successful'), '1');
  bench.stop.abort();
  await bench.done;
});

test('a file that is gone changes nothing, and neither does putting the old content back', async () => {
  const bench = new Bench({ a: '1', b: '2' });
  delete bench.files['b'];
  await bench.tick();
  await bench.tick();
  assert.equal(bench.warnings.length, 1);
  bench.files['b'] = '2';
  await bench.tick();
  assert.deepEqual(bench.applied, []);
  assert.equal(await bench.metric('outrigger_reload_successful'), '1');
  bench.stop.abort();
  await bench.done;
});

test('a mounted ConfigMap is followed through the swap of its symbolic link', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'outrigger-reload-'));
  try {
    // As the kubelet lays a volume out: file → ..data/file, ..data → ..<time>, and the last one is swapped by rename.
    for (const [version, text] of [['..one', '1'] as const, ['..two', '2'] as const]) {
      await mkdir(join(directory, version));
      await writeFile(join(directory, version, 'cloud.conf'), text);
    }
    await symlink('..one', join(directory, '..data'));
    await symlink('..data/cloud.conf', join(directory, 'cloud.conf'));
    const clock = new FakeClock();
    const stop = new AbortController();
    const applied = Promise.withResolvers<readonly string[]>();
    const done = reloadFiles({
      name: 'cloud-config',
      paths: [join(directory, 'cloud.conf')],
      current: ['1'],
      apply: (texts) => Promise.resolve(applied.resolve(texts)),
      clock,
      logger: silentLogger,
      metrics: new PrometheusMetrics(),
      signal: stop.signal,
    });
    await symlink('..two', join(directory, '..data_tmp'));
    await rename(join(directory, '..data_tmp'), join(directory, '..data'));
    // Files are read on the thread pool, which no clock moves.
    while (clock.pendingTimers === 0) await clock.settle();
    await clock.advance(10_000);
    while (clock.pendingTimers === 0) await clock.settle();
    await clock.advance(1_000);
    assert.deepEqual(await applied.promise, ['2']);
    stop.abort();
    await done;
  } finally {
    await rm(directory, { recursive: true });
  }
});

test('files beside the texts: each that changes, comes or goes is a change, and what is handed over stays the same', async () => {
  const bench = new Bench({ a: '1' }, ['ca', 'token'], { ca: 'old' });
  await bench.tick();
  await bench.tick();
  assert.deepEqual(bench.applied, [], 'what was there at the start is in use');
  for (const change of [
    () => (bench.files['ca'] = 'new'),
    () => (bench.files['token'] = 't'),
    () => delete bench.files['ca'],
  ]) {
    change();
    await bench.tick();
    await bench.tick();
    assert.deepEqual(bench.applied.splice(0), ['1']);
  }
  bench.stop.abort();
  await bench.done;
});

test('a file beside the texts that changes while they are applied is applied again; others that are named then are not', async () => {
  const bench = new Bench({ a: '1' }, ['ca'], { ca: 'old' });
  await bench.tick();
  bench.files['ca'] = 'new';
  bench.check = () => {
    bench.files['ca'] = 'newer';
    bench.also.push('token');
    bench.check = () => {};
  };
  for (let i = 0; i < 3; i++) await bench.tick();
  assert.deepEqual(bench.applied, ['1', '1']);
  bench.files['token'] = 't';
  await bench.tick();
  assert.equal(bench.applied.length, 3);
  bench.stop.abort();
  await bench.done;
});

test('what is refused because of a file beside the texts is tried again when that changes', async () => {
  const bench = new Bench({ a: '1' }, ['ca'], { ca: 'old' });
  await bench.tick();
  let tries = 0;
  bench.check = () => {
    tries++;
    if (bench.files['ca'] === 'half') throw new Error('ca: no certificate');
  };
  bench.files['ca'] = 'half';
  for (let i = 0; i < 3; i++) await bench.tick();
  assert.deepEqual([tries, bench.warnings.length, bench.applied], [1, 1, []]);
  bench.files['ca'] = 'whole';
  await bench.tick();
  assert.deepEqual([tries, bench.applied], [2, ['1']]);
  bench.stop.abort();
  await bench.done;
});
