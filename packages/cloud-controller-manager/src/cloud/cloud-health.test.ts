import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EndedRequest } from '@outrigger/cloud-runtime';
import { HealthChecks } from '@outrigger/controller-manager';
import { noMetrics, silentLogger, type EventNote, type Metrics } from '@outrigger/kube';
import { FakeClock } from '@outrigger/testing';
import { CloudHealth } from './cloud-health.ts';

function setUp(): {
  readonly send: (code: string, bucket?: string) => void;
  readonly notes: EventNote[];
  readonly lines: string[];
  readonly gauge: Record<string, number>;
  readonly ready: () => Promise<string>;
} {
  const health = new HealthChecks();
  const notes: EventNote[] = [];
  const lines: string[] = [];
  const gauge: Record<string, number> = {};
  const metrics: Metrics = {
    ...noMetrics,
    gauge: () => ({ set: (value, labels) => void (gauge[labels?.['service'] ?? ''] = value) }),
  };
  const logger = { ...silentLogger, warn: (message: string) => void lines.push(message) };
  const clock = new FakeClock();
  const heard = new CloudHealth({ clock, logger, metrics, health, onEvent: (note) => notes.push(note) }).follow('a');
  const request: Omit<EndedRequest, 'code' | 'bucket'> = {
    operation: 'GET /servers',
    startedAt: 0,
    durationMs: 1,
    priority: 'normal',
    attempt: 1,
  };
  return {
    send: (code, bucket = 'compute') => heard({ ...request, code, bucket }),
    notes,
    lines,
    gauge,
    ready: async () => (await health.run('readyz', { verbose: true })).text,
  };
}

test('refused credentials are told at once, and once, with what to do; readiness stays', async () => {
  const { gauge, lines, notes, ready, send } = setUp();
  send('ok');
  assert.match(await ready(), /^\[\+\]cloud-a ok$/mu);
  for (let i = 0; i < 3; i++) send('unauthenticated');
  assert.match(await ready(), /^\[\+\]cloud-a ok \(failing: compute: unauthenticated since \d{4}-.*Z\)$/mu);
  assert.match(await ready(), /^readyz check passed$/mu);
  assert.deepEqual(gauge, { compute: 0 });
  assert.deepEqual(lines, ['The cloud refuses the credentials']);
  assert.deepEqual(
    notes.map(({ reason }) => reason),
    ['CloudCredentialsRefused'],
  );
  assert.match(notes[0]?.message ?? '', /GET \/servers: unauthenticated.*correct the credentials in its cloud config/u);
  send('http-404');
  assert.match(await ready(), /^\[\+\]cloud-a ok$/mu);
  assert.deepEqual([gauge, notes.at(-1)?.reason], [{ compute: 1 }, 'CloudAnswers']);
});

test('a cloud does not answer after two requests in a row that failed; each service by itself', async () => {
  const { gauge, notes, ready, send } = setUp();
  send('unavailable');
  send('ok', 'network');
  send('ok');
  send('unavailable');
  assert.equal(notes.length, 0);
  send('aborted');
  send('ok', 'network');
  send('timeout');
  assert.deepEqual(gauge, { compute: 0, network: 1 });
  assert.match(await ready(), /\(failing: compute: timeout since [^,]*\)/u);
  assert.equal(notes[0]?.reason, 'CloudUnreachable');
});

test('a token that has run out, and is renewed, is no failure', () => {
  const { notes, send } = setUp();
  for (let i = 0; i < 3; i++) {
    send('http-401');
    send('ok');
  }
  assert.equal(notes.length, 0);
  send('http-401');
  send('http-401');
  assert.equal(notes[0]?.reason, 'CloudCredentialsRefused');
});

test('a cloud that fails now in one way and now in another is told of once; refused credentials are another thing', async () => {
  const { lines, notes, ready, send } = setUp();
  for (const code of ['timeout', 'unavailable', 'timeout', 'unavailable', 'timeout']) send(code);
  assert.deepEqual(lines, ['The cloud does not answer']);
  assert.match(await ready(), /\(failing: compute: timeout since /u, 'what it was last');
  send('unauthenticated');
  assert.deepEqual(
    notes.map(({ reason }) => reason),
    ['CloudUnreachable', 'CloudCredentialsRefused'],
  );
});
