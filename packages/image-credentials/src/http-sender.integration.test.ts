import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import { askProgram, startFakeServices, whileTimePasses } from './fake-services.suite.ts';
import { HttpSender } from './http-sender.ts';
import { systemClock } from './system-clock.ts';
import { temporaryFiles } from './temporary-files.suite.ts';

const signal = new AbortController().signal;

test('through the proxy of the environment, but not to the metadata service, nor where NO_PROXY says', async () => {
  await using target = await startFakeServices({ 'GET /a': () => ({ json: { by: 'itself' } }) });
  await using proxy = await startFakeServices({ [`GET ${target.url}/a`]: () => ({ json: { by: 'the proxy' } }) });
  const sender = (env: Readonly<Record<string, string>>) => new HttpSender({ clock: systemClock, env, signal });
  const url = `${target.url}/a`;
  const env = { HTTP_PROXY: proxy.url };
  assert.deepEqual(await sender(env).object({ service: 'a', url }), { by: 'the proxy' });
  assert.deepEqual(await sender(env).object({ service: 'a', url, isMetadata: true }), { by: 'itself' });
  assert.deepEqual(await sender({ ...env, NO_PROXY: '127.0.0.1' }).object({ service: 'a', url }), { by: 'itself' });
  assert.deepEqual(await sender({ http_proxy: proxy.url }).object({ service: 'a', url }), { by: 'the proxy' });
});

test('a service that never answers ends with the time of one request, three times; the end of the whole ends it at once', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  try {
    const clock = new FakeClock();
    const asked = new HttpSender({ clock, env: {}, signal }).text({ service: 'a', url, isMetadata: true });
    await assert.rejects(whileTimePasses(clock, 500, asked), {
      code: 'timeout',
      message: `a at ${new URL(url).origin} did not answer within 2 s`,
    });
    const whole = new AbortController();
    const other = new HttpSender({ clock: systemClock, env: {}, signal: whole.signal }).text({ service: 'a', url });
    setTimeout(() => whole.abort(new Error('the end')), 20);
    await assert.rejects(other, { message: 'the end' });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

test('the whole call ends in its time, before the kubelet ends it', async () => {
  const server = createServer(() => {});
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  using files = temporaryFiles();
  try {
    const clock = new FakeClock();
    const asked = new Promise((resolve) => void server.once('request', resolve));
    const file = files.write('c.yaml', `timeout: 5s\ngcr:\n  audience: a\n  stsUrl: ${url}\n`);
    const answer = askProgram(['gcr', `--config=${file}`], { image: 'gcr.io/a/b', token: 'pod-token', clock });
    await asked;
    await clock.advance(5_000);
    assert.equal((await answer).stderr, 'outrigger-image-credentials gcr: timeout: no credentials within 5 s\n');
    assert.equal(clock.pendingTimers, 0);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => void server.close(resolve));
  }
});

test('an answer is read up to 1 MiB', async () => {
  await using target = await startFakeServices({ 'GET /a': () => ({ text: 'x'.repeat((1 << 20) + 1) }) });
  const sender = new HttpSender({ clock: systemClock, env: {}, signal });
  await assert.rejects(sender.text({ service: 'a', url: `${target.url}/a` }), { code: 'bad-answer' });
  assert.equal(target.asked.length, 1);
});

test('nobody there is told with what a person can look up', async () => {
  const clock = new FakeClock();
  const asked = new HttpSender({ clock, env: {}, signal }).text({ service: 'STS', url: 'http://127.0.0.1:1/' });
  await assert.rejects(whileTimePasses(clock, 250, asked), {
    code: 'unavailable',
    message: /^STS at http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED/u,
  });
});
